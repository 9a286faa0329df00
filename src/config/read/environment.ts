import { type Complaints, didYouMean, quote } from '../../domain/complaint.ts';
import { environmentPrefix, type Leaf, listLeaves, listServerLeaves, toSecretVariable } from '../declare/catalogue.ts';
import type { CollectorDefaults } from '../declare/options.ts';

/** Returns the exporter's variables by name; an empty one counts as not set, because compose files leave them empty. */
export function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  collectors: readonly CollectorDefaults[],
  complaints: Complaints,
): ReadonlyMap<string, string> {
  const known = new Set([...listLeaves(collectors).map((leaf) => leaf.environment), ...listServerVariables()]);
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(environmentPrefix) || value === undefined || value === '') continue;
    if (known.has(name)) found.set(name, value);
    else if (!isServiceLink(name))
      complaints.add(quoteName(name), 'is not a known variable', didYouMean(name, known) ?? 'see --help');
  }
  return found;
}

/** The variables of the single-server form, with those that hold a secret. */
export function listServerVariables(): readonly string[] {
  return listServerLeaves('servers[0]').flatMap((leaf) => toVariables(leaf));
}

function toVariables(leaf: Leaf): readonly string[] {
  const secret = toSecretVariable(leaf);
  return secret === undefined ? [leaf.environment] : [leaf.environment, secret];
}

// Kubernetes sets these in every pod next to a Service named automation-exporter.
function isServiceLink(name: string): boolean {
  return /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/.test(name);
}

function quoteName(name: string): string {
  return /^[A-Za-z0-9_]{1,100}$/.test(name) ? name : quote(name);
}
