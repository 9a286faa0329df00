import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

// The cast has only the fields that are used; promtool checks the rest.
const { groups } = parse(readFileSync(new URL('../../../alerts/rules.yaml', import.meta.url), 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};

/** The order of dependent rule groups; by default, promtool uses a new order each time. */
export const groupOrder = ['automation-objectives', 'automation-error-budgets'];

/** The named alerts and the recordings that they need; all rules would take minutes. */
export function toRulesOf(alerts: readonly string[], text = ''): string {
  const rules = groups.flatMap((group) => group.rules);
  const isAsked = ({ alert = '', record }: Rule): boolean =>
    record === undefined ? alert === 'AutomationExecutionModePassive' || alerts.includes(alert) : text.includes(record);
  const needed = new Set(rules.filter(isAsked));
  // Each added expression may name further recordings, so the loop continues over added ones.
  for (const { expr } of needed) {
    for (const rule of rules) if (isMadeOf(expr, rule)) needed.add(rule);
  }
  const kept = groups.map((group) => ({ ...group, rules: group.rules.filter((rule) => needed.has(rule)) }));
  return JSON.stringify({ groups: kept.filter((group) => group.rules.length > 0) });
}

function isMadeOf(expr: string, { record, labels: { sloth_id: id = '' } = {} }: Rule): boolean {
  return record !== undefined && expr.includes(`${record}{sloth_id="${id}"`);
}
