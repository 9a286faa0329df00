import type { FamilyFacts } from '../config/declare/options.ts';
import type { TakenLabels } from '../config/read/server-rules.ts';
import { collectors } from '../daemon/catalogue/collectors.ts';

/** The metric families of watched servers, for checks of the configuration. */
export function listFamilies(): readonly FamilyFacts[] {
  const facts = collectors.flatMap(({ metrics }) => Object.values(metrics)).map(toFacts);
  // Each family is listed once, although two collectors may have rows of it.
  return [...new Map(facts.map((family) => [family.name, family])).values()];
}

/** Lists the labels that the configuration cannot add. */
export function listTakenLabels(): TakenLabels {
  const families = listFamilies();
  const ofServers = new Set([...families.flatMap(({ labels }) => labels), ...projectInfoLabels, ...ownLabels]);
  return {
    ofServers: [...ofServers, ...targetLabels],
    ofProjects: [...projectInfoLabels, 'server', 'member', ...targetLabels],
  };
}

const projectInfoLabels = ['project', 'label', 'created'];

const ownLabels = [
  'server',
  'member',
  'collector',
  'reason',
  'api_endpoint',
  'code',
  'kind',
  'field',
  'version',
  'node_version',
] as const;

// The first labels belong to targets. The exposition format reserves the last two labels.
const targetLabels = ['job', 'instance', 'endpoint', 'service', 'namespace', 'pod', 'type', 'le', 'quantile'];

function toFacts({
  name,
  type,
  labels,
  stateLabel,
  bucketsFrom,
}: (typeof collectors)[number]['metrics'][string]): FamilyFacts {
  return {
    name,
    type,
    labels,
    ...(stateLabel === undefined ? {} : { stateLabel }),
    ...(bucketsFrom === undefined ? {} : { bucketsFrom }),
  };
}
