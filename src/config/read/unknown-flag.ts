import { environmentPrefix, listServerLeaves, toSecretVariable } from '../declare/catalogue.ts';
import { didYouMean } from '../did-you-mean.ts';

/** Says what to do instead of an unknown flag; those of a server, secrets above all, live elsewhere on purpose. */
export function explainUnknownFlag(typed: string, known: Iterable<string>): { message: string; hint: string } {
  const message = 'is not a known flag';
  const word = typed
    .replace(/^-+/, '')
    .replace(/^servers?\./, '')
    .replace(/[.-]/g, '_')
    .toLowerCase();
  const variable = environmentPrefix + word.toUpperCase();
  for (const leaf of listServerLeaves('servers[]')) {
    const secret = toSecretVariable(leaf);
    if (leaf.environment === variable) return { message, hint: `set ${leaf.environment}, or ${leaf.path} in the file` };
    if (secret === variable) {
      return {
        message,
        hint: `secrets never come from flags: set ${secret} or ${leaf.environment}, or ${leaf.path} in the file`,
      };
    }
  }
  if (/password|secret|token|credential/.test(word))
    return { message, hint: 'secrets come from files or the environment, never from a flag' };
  return { message, hint: didYouMean(typed, known) ?? 'see --help' };
}
