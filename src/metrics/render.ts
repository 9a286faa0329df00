import type { Family, LabelPair, Row } from './family.ts';
import type { Format } from './format.ts';

/** The sample lines of rows of one family, the same in both formats; base labels stand first. */
export function renderSamples(rows: readonly Row[], baseLabels: readonly LabelPair[] = []): string {
  const base = baseLabels.map(renderLabel).join(',');
  let text = '';
  for (const row of rows) {
    const { family, labels, value, suffix = '', extra, added } = row;
    let inner = base;
    for (let index = 0; index < family.labels.length; index++) {
      inner += `${inner === '' ? '' : ','}${family.labels[index]}="${escapeLabel(labels[index] ?? '')}"`;
    }
    for (const pair of added ?? []) inner += `${inner === '' ? '' : ','}${renderLabel(pair)}`;
    if (extra !== undefined) inner += `${inner === '' ? '' : ','}${extra[0]}="${renderBound(extra[1])}"`;
    text += `${family.name}${suffix}${inner === '' ? '' : `{${inner}}`} ${renderValue(value)}\n`;
  }
  return text;
}

/** The HELP and TYPE lines of a family, and in OpenMetrics the UNIT line. */
export function renderHeader({ name, help, type }: Family, format: Format): string {
  if (format === 'text') {
    return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type === 'info' ? 'gauge' : type}\n`;
  }
  const base = toOpenMetricsName(name, type);
  const unit = /_(seconds|bytes)$/.exec(base)?.[1];
  const unitLine = unit === undefined ? '' : `# UNIT ${base} ${unit}\n`;
  return `# HELP ${base} ${escapeLabel(help)}\n# TYPE ${base} ${type}\n${unitLine}`;
}

export const openMetricsEnd = '# EOF\n';

/** OpenMetrics names counters and infos without the suffix of their samples. */
function toOpenMetricsName(name: string, type: Family['type']): string {
  if (type === 'counter') return name.replace(/_total$/, '');
  return type === 'info' ? name.replace(/_info$/, '') : name;
}

function renderLabel([name, value]: LabelPair): string {
  return `${name}="${escapeLabel(value)}"`;
}

function escapeLabel(value: string): string {
  if (!/["\\\n]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function escapeHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/** Bounds are written alike in both formats, as OpenMetrics wants them: `1.0`. */
function renderBound(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : renderValue(value);
}

function renderValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
