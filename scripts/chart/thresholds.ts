import { parse, stringify } from 'yaml';
import { buildRules } from '../../alerts/generate.ts';
import { optionNames } from '../../alerts/site.ts';
import { defaultThresholds, type Thresholds } from '../../alerts/thresholds.ts';

type Rule = {
  readonly alert?: string;
  readonly record?: string;
  readonly labels: Fields;
  readonly annotations?: Fields;
};
type Fields = Readonly<Record<string, string>>;

/**
 * Renders the input for the template of the rules: each text that contains thresholds, with their names between `@`, and
 * the default thresholds.
 */
export function renderThresholds(): string {
  const defaults = Object.fromEntries(
    // This cast is safe: both objects have these keys.
    Object.entries(optionNames).map(([key, name]) => [name, defaultThresholds[key as keyof Thresholds]]),
  );
  const fields = { ...toFields([]), ...withoutOthers() };
  return `# Generated from alerts/.\n${stringify({ defaults, fields }, { lineWidth: 0 })}`;
}

/** Alerts that take over the reports of other rules. */
const [nodeAlert, causeAlert] = ['AutomationNodeFailingEverywhere', 'AutomationCommonCause'];

/** Returns the texts that other rules need if one of these alerts is off. */
function withoutOthers(): Readonly<Record<string, Fields>> {
  const usual = readRules(buildRules());
  const found = [[nodeAlert], [causeAlert], [nodeAlert, causeAlert]].flatMap((off) => {
    const marked = toFields(off);
    return [...readRules(buildRules({}, off))].flatMap(([name, { expr = '' }]) => {
      if (expr === usual.get(name)?.['expr']) return [];
      return [[`${name} without ${off.join(' and ')}`, { expr, ...marked[name] }] as const];
    });
  });
  return Object.fromEntries(found);
}

function toFields(off: readonly string[]): Readonly<Record<string, Fields>> {
  const marks = Object.fromEntries(Object.entries(optionNames).map(([key, name]) => [key, `@${name}@`]));
  const usual = readRules(buildRules({}, off));
  // Except for one label, which is added below, rules only print these thresholds.
  const marked = readRules(buildRules(marks, off));
  return Object.fromEntries(
    [...usual].flatMap(([name, before]) => {
      const changed = Object.entries(marked.get(name) ?? {}).filter(([field, text]) => before[field] !== text);
      const texts = changed.map(([field, text]) => [field, text === 'NaN' ? toPercent(name) : text]);
      return texts.length === 0 ? [] : [[name, Object.fromEntries(texts) as Fields]];
    }),
  );
}

function toPercent(name: string): string {
  return name.includes('schedules') ? '@punctuality_objective_percent@' : '@executions_objective_percent@';
}

/** Returns the texts of every rule, by its alert or by its record and objective. */
function readRules(yaml: string): ReadonlyMap<string, Fields> {
  // This cast is safe: `buildRules` wrote the text.
  const { groups } = parse(yaml) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  return new Map(
    groups.flatMap(({ rules }) =>
      rules.map(({ alert, record = '', labels, annotations, ...others }): readonly [string, Fields] => {
        const { sloth_slo: objective = '', sloth_objective } = labels;
        const percent = sloth_objective === undefined ? {} : { sloth_objective };
        return [alert ?? `${record}/${objective}`, { ...others, ...percent, ...annotations }];
      }),
    ),
  );
}
