import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
}

// The cast names only what is looked at; promtool checks the rest.
const { groups } = parse(readFileSync(new URL('../../../alerts/rules.yaml', import.meta.url), 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};

/** The order in which groups are evaluated that need each other: without it, promtool takes a new one each time. */
export const groupOrder = ['automation-objectives', 'automation-error-budgets'];

/** The rule file with the alerts that are named, and what they are made of: all of them at every step would take minutes. */
export function toRulesOf(alerts: readonly string[], records: readonly string[] = []): string {
  const needsBudget = alerts.some((alert) => alert.includes('Burn'));
  const isNeeded = ({ alert, record }: Rule): boolean => {
    if (record !== undefined)
      return (
        records.includes(record) || (needsBudget && record.startsWith('slo:sli_error:') && !record.endsWith('30d'))
      );
    return alert === 'AutomationExecutionModePassive' || (alert !== undefined && alerts.includes(alert));
  };
  const kept = groups.map((group) => ({ ...group, rules: group.rules.filter(isNeeded) }));
  return JSON.stringify({ groups: kept.filter(({ rules }) => rules.length > 0) });
}
