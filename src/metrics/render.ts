import type { Family, LabelPair, Row } from './family.ts';
import type { Format } from './format.ts';

/** The sample lines of rows of one family, the same in both formats; base labels stand first. */
export function renderSamples(rows: readonly Row[], baseLabels: readonly LabelPair[] = []): string {
  const [first] = rows;
  if (first === undefined) return '';
  const renderRow = createRowRenderer(first.family, baseLabels);
  let text = '';
  for (const row of rows) text += renderRow(row);
  return text;
}

/** Renders one row of the family after the other, and is fastest where neighbours share their first labels. */
export function createRowRenderer(family: Family, baseLabels: readonly LabelPair[] = []): (row: Row) => string {
  const names = family.labels;
  const base = renderPairs(baseLabels);
  const openings = names.map((name, index) => `${index === 0 && base === '' ? '' : ','}${name}="`);
  // What the row before had as its labels, and all text up to each of them.
  const before: (string | undefined)[] = [];
  const texts: string[] = [base];

  return ({ labels, value, suffix, extra, added }) => {
    // No number is no sample.
    if (Number.isNaN(value)) return '';
    let index = 0;
    while (index < names.length && before[index] === (labels[index] ?? '')) index++;
    let inner = texts[index] ?? '';
    for (; index < names.length; index++) {
      const label = labels[index] ?? '';
      before[index] = label;
      inner += `${openings[index]}${escapeLabel(label)}"`;
      texts[index + 1] = inner;
    }
    if (added !== undefined) inner = joinPairs(inner, renderPairs(added));
    if (extra !== undefined) inner = joinPairs(inner, `${extra[0]}="${renderBound(extra[1])}"`);
    const name = suffix === undefined ? family.name : family.name + suffix;
    return inner === '' ? `${name} ${renderValue(value)}\n` : `${name}{${inner}} ${renderValue(value)}\n`;
  };
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

/** What a scrape ends with. */
export function renderEnd(format: Format): string {
  return format === 'openmetrics' ? '# EOF\n' : '';
}

/** OpenMetrics names counters and infos without the suffix of their samples. */
function toOpenMetricsName(name: string, type: Family['type']): string {
  if (type === 'counter') return name.replace(/_total$/, '');
  return type === 'info' ? name.replace(/_info$/, '') : name;
}

function renderPairs(pairs: readonly LabelPair[]): string {
  return pairs.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',');
}

function joinPairs(one: string, other: string): string {
  return one === '' || other === '' ? one + other : `${one},${other}`;
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
