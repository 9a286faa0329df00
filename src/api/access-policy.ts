import type { Dialect } from './dialect.ts';
import type { Endpoint } from './endpoint.ts';

/** The access policy that allows these endpoints, ready to be pasted; each rule stands in it once. */
export function toAccessPolicy(
  endpoints: readonly Pick<Endpoint<unknown>, 'allowedBy'>[],
  dialect: Dialect = 'rundeck',
): string {
  const rules = readRules(endpoints.map(({ allowedBy }) => allowedBy));
  const ofProjects = rules.filter(isOfProjects);
  const ofApplication = rules.filter((rule) => !isOfProjects(rule));
  const documents = [
    renderDocument(`application: ${dialect}`, ofApplication),
    renderDocument("project: '.*'", ofProjects),
  ];
  return documents.filter((document) => document !== '').join('---\n');
}

/** The right that an endpoint takes where it lets change things, too: nobody is to be handed that by pasting. */
export function toAdminRight({ allowedBy }: Pick<Endpoint<unknown>, 'allowedBy'>): string | undefined {
  const [, right] = /allow: \[(admin|configure)\]/.exec(allowedBy) ?? [];
  if (right === undefined) return undefined;
  const [, kind] = /kind: (\w+)/.exec(allowedBy) ?? /^(\w+):/.exec(allowedBy) ?? [];
  return `${kind} ${right}`;
}

type Rule = { readonly type: string; readonly entries: string };

/** `resource: [{ … }]` as an endpoint declares it, or several of these with commas between them; each once. */
function readRules(declared: readonly string[]): Rule[] {
  const rules = new Map<string, Rule>();
  for (const allowedBy of declared) {
    for (const [rule, type = '', entries = ''] of allowedBy.matchAll(/(\w+): \[(\{.*?\})\](?=, \w+: \[|$)/gs)) {
      rules.set(rule, { type, entries });
    }
  }
  return [...rules.values()];
}

/** What belongs to one project is allowed in the context of projects, everything else in that of the application. */
function isOfProjects({ type, entries }: Rule): boolean {
  return /^(job|node|adhoc)$/.test(type) || (type === 'resource' && /kind: (event|job|node)\b/.test(entries));
}

function renderDocument(context: string, rules: readonly Rule[]): string {
  if (rules.length === 0) return '';
  const types = [...new Set(rules.map(({ type }) => type))];
  const sections = types.map((type) => {
    const lines = rules.filter((rule) => rule.type === type).map(({ entries }) => `    - ${entries}\n`);
    return `  ${type}:\n${lines.join('')}`;
  });
  return `description: what automation-exporter reads
context:
  ${context}
for:
${sections.join('')}by:
  group: automation-exporter
`;
}
