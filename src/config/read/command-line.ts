import { type Complaint, createComplaints, didYouMean, quote } from '../../domain/complaint.ts';
import { environmentPrefix, findByKey, listLeaves, listServerLeaves, toSecretVariable } from '../declare/catalogue.ts';
import type { CollectorDefaults } from '../declare/options.ts';

export type CommandLine = { readonly commands: readonly CommandWord[]; readonly flags: readonly CommandFlag[] };

type CommandWord = {
  readonly name: string;
  /** The maximum number of words after the command; none by default. */
  readonly positionals?: number;
};

export type CommandFlag = {
  readonly name: string;
  readonly letter?: string;
  /** The placeholder of the value in the help. A flag without a placeholder is a switch. */
  readonly placeholder?: string;
  /** True if the flag may be given several times. The values are joined with commas. */
  readonly repeats?: true;
  readonly help: string;
  /** The commands with this flag; all by default. */
  readonly commands?: readonly string[];
};

export type Arguments = {
  readonly command: string | undefined;
  /** True if the first word is not a command. Without a command, the other words are not checked. */
  readonly isUnknownCommand: boolean;
  readonly positionals: readonly string[];
  readonly flags: ReadonlyMap<string, string | boolean>;
  readonly problems: readonly Complaint[];
};

/** Reads arguments: `--flag value`, `--flag=value`, `--switch`, `--no-switch`. `--` ends the flags. */
export function parseArguments(
  argv: readonly string[],
  options: { collectors: readonly CollectorDefaults[]; commandLine?: CommandLine },
): Arguments {
  const { commands, flags: commandFlags } = options.commandLine ?? { commands: [], flags: [] };
  const known = listKnownFlags(options.collectors, commandFlags);
  const problems = createComplaints();
  const flags = new Map<string, string | boolean>();
  const words: string[] = [];
  const waiting = [...argv];

  for (let word = waiting.shift(); word !== undefined; word = waiting.shift()) {
    if (word === '--') {
      words.push(...waiting.splice(0));
    } else if (word.startsWith('-') && word.length > 1) {
      readFlag(word);
    } else {
      words.push(word);
    }
  }

  function readFlag(word: string): void {
    const [typed = '', ...rest] = word.split('=');
    const attached = word.includes('=') ? rest.join('=') : undefined;
    const flag = known.get(typed);
    const place = flag === undefined ? typed : `--${flag.name}`;
    if (flag === undefined) {
      const [, dashes = '', key = ''] = /^(--(?:no-)?)(.*)$/.exec(typed) ?? [];
      const meant = `${dashes}${findByKey(options.collectors, key)?.flag}`;
      const { message, hint } = explainUnknownFlag(typed, known.keys());
      problems.add(quoteFlag(typed), message, known.has(meant) ? `did you mean ${meant}?` : hint);
      // The next word may be a secret, the value of the unknown flag, so it is not reported.
      const next = waiting[0];
      if (attached === undefined && next !== undefined && !isFlag(next) && !commands.some(({ name }) => name === next))
        waiting.shift();
      return;
    }
    const { name, placeholder, isNegatable, state, repeats } = flag;
    const value = placeholder === undefined ? state : (attached ?? takeValue());
    if (placeholder === undefined && attached !== undefined)
      problems.add(place, 'takes no value', isNegatable ? `write --${name} or --no-${name}` : `write --${name}`);
    else if (flags.has(name) && repeats !== true) problems.add(place, 'is given twice');
    else if (value === undefined || value === '') problems.add(place, 'needs a value', `--${name}=${placeholder}`);
    else flags.set(name, flags.has(name) ? `${flags.get(name)},${value}` : value);
  }

  function takeValue(): string | undefined {
    const next = waiting[0];
    return next === undefined || isFlag(next) ? undefined : waiting.shift();
  }

  const [command, ...positionals] = words;
  const declared = commands.find(({ name }) => name === command);
  const isUnknownCommand = command !== undefined && declared === undefined && commands.length > 0;
  if (command !== undefined && declared === undefined) {
    const names = commands.map(({ name }) => name);
    const hint =
      names.length === 0 ? 'only flags are accepted' : (didYouMean(command, names) ?? `commands: ${names.join(', ')}`);
    problems.add(quote(command), names.length === 0 ? 'is not expected here' : 'is not a command', hint);
  }
  for (const extra of declared === undefined ? [] : positionals.slice(declared.positionals ?? 0)) {
    problems.add(quote(extra), `is not expected after ${declared?.name}`);
  }
  for (const { name, placeholder, commands: owners, help } of commandFlags) {
    if (owners === undefined || !flags.has(name) || (command !== undefined && declared === undefined)) continue;
    const typed = `${owners[0]} --${name}${placeholder === undefined ? '' : `=${placeholder}`}`;
    if (!owners.includes(command ?? ''))
      problems.add(`--${name}`, `belongs to ${owners.join(', ')}`, `write ${typed}: ${help.replace(/\.$/, '')}`);
  }
  return { command: declared?.name, isUnknownCommand, positionals, flags, problems: problems.list() };
}

/** A flag without a placeholder is a switch that sets `state`. */
type KnownFlag = Pick<CommandFlag, 'name' | 'placeholder' | 'repeats'> & { isNegatable: boolean; state: boolean };

// Lists every spelling of each flag: `--x`, `--no-x` and `-x`.
function listKnownFlags(collectors: readonly CollectorDefaults[], commandFlags: readonly CommandFlag[]) {
  const known = new Map<string, KnownFlag>();
  for (const { flag: name, option } of listLeaves(collectors)) {
    if (name === undefined) continue;
    const { placeholder } = option.type;
    const isNegatable = placeholder === undefined;
    const flag = { name, isNegatable, ...(placeholder === undefined ? {} : { placeholder }) };
    known.set(`--${name}`, { ...flag, state: true });
    if (isNegatable) known.set(`--no-${name}`, { ...flag, state: false });
  }
  for (const { name, letter, ...flag } of commandFlags)
    for (const spelling of letter === undefined ? [`--${name}`] : [`--${name}`, `-${letter}`])
      known.set(spelling, { ...flag, name, isNegatable: false, state: true });
  return known;
}

function isFlag(word: string): boolean {
  return word.startsWith('--') || /^-[A-Za-z]/.test(word);
}

function quoteFlag(typed: string): string {
  return /^--?[A-Za-z0-9._-]{1,60}$/.test(typed) ? typed : quote(typed);
}

/** Explains what to do about an unknown flag. Servers have no flags on purpose, because of their secrets. */
function explainUnknownFlag(typed: string, known: Iterable<string>): { message: string; hint: string } {
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
