import type { Registry } from 'prom-client';
import type { Family } from './family.ts';

export type ReferenceSection = { readonly title: string; readonly text: string; readonly families: readonly Family[] };

/** Renders the metric reference as Markdown, with one table per section. */
export function renderReference(sections: readonly ReferenceSection[]): string {
  const parts = sections.map(({ title, text, families }) => {
    const rows = families.map(({ name, type, labels, help }) => {
      const cells = [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(' '), help.replaceAll('|', '\\|')];
      return `| ${cells.join(' | ')} |`;
    });
    return `## ${title}\n\n${text}\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return parts.join('\n');
}

/** Returns the exporter's own instruments as families, without process and runtime metrics, which prom-client documents. */
export function toOwnFamilies(registry: Registry): Family[] {
  const own = registry.getMetricsAsArray().filter(({ name }) => name.startsWith('automation_'));
  return own.map((metric) => {
    const { name, help, type, labelNames = [] } = metric as unknown as RegisteredMetric;
    return { name, help, type: name.endsWith('_info') ? 'info' : type, labels: labelNames, merge: 'sum' };
  });
}

/** The fields of a registered metric that prom-client's types lack. */
type RegisteredMetric = Pick<Family, 'name' | 'help' | 'type'> & { labelNames?: readonly string[] };
