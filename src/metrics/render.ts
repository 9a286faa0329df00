import type { Exemplar, Family, LabelPair, Row } from './family.ts';
import type { TextFormat } from './format.ts';

/** Renders the sample lines of one family without exemplars, so that both text formats share them. Base labels come first. */
export function renderSamples(rows: readonly Row[], baseLabels: readonly LabelPair[] = []): string {
  const [first] = rows;
  if (first === undefined) return '';
  const renderRow = createRowRenderer(first.family, baseLabels);
  let text = '';
  for (const row of rows) text += renderRow(row);
  return text;
}

/** Renders rows of one family. The renderer is fastest if neighbours share their first labels. */
export function createRowRenderer(family: Family, baseLabels: readonly LabelPair[] = []): (row: Row) => string {
  const { name, labels: labelNames } = family;
  const base = renderPairs(baseLabels);
  // The text around each label is joined once, so that a line has few long pieces; this saves time.
  const openings = labelNames.map((label, index) => `${index > 0 ? '",' : base && ','}${label}="`);
  const closing = labelNames.length > 0 ? '"' : '';
  const beforeValue = `${closing}} `;
  const isBare = base === '' && labelNames.length === 0;
  // The suffix and labels of the previous row, and the text up to each label.
  let suffixBefore: Row['suffix'];
  const labelsBefore: (string | undefined)[] = [];
  const texts: string[] = [`${name}{${base}`];

  return ({ labels, value, suffix, extra, added }) => {
    // NaN means that the value is missing.
    if (Number.isNaN(value)) return '';
    if (suffix !== suffixBefore) {
      suffixBefore = suffix;
      labelsBefore.length = 0;
      texts[0] = `${name}${suffix ?? ''}{${base}`;
    }
    let index = 0;
    while (index < labelNames.length && labelsBefore[index] === (labels[index] ?? '')) index++;
    let text = toOnePiece(texts[index] ?? '');
    for (; index < labelNames.length; index++) {
      const label = labels[index] ?? '';
      labelsBefore[index] = label;
      text += openings[index] + escapeLabel(label);
      texts[index + 1] = text;
    }
    const number = renderValue(value);
    if (added !== undefined || extra !== undefined) {
      const rest = renderRest(added, extra);
      if (rest !== '') return `${text}${closing}${isBare ? '' : ','}${rest}} ${number}\n`;
    }
    return isBare ? `${name}${suffix ?? ''} ${number}\n` : text + `${beforeValue}${number}\n`;
  };
}

/** Returns the text in one piece of memory. V8 would copy a concatenated text for each line. */
function toOnePiece(text: string): string {
  return Number.isNaN(text.charCodeAt(0)) ? '' : text;
}

/** Appends an exemplar to a sample line, as in OpenMetrics. */
export function addExemplar(line: string, { traceId, spanId, value, atMs }: Exemplar): string {
  const labels = renderPairs([
    ['trace_id', traceId],
    ['span_id', spanId],
  ]);
  return `${line.slice(0, -1)} # {${labels}} ${renderValue(value)} ${renderValue(atMs / 1000)}\n`;
}

/** Renders the HELP and TYPE lines of a family, and in OpenMetrics the UNIT line. */
export function renderHeader({ name, help, type }: Family, format: TextFormat): string {
  if (format === 'text') {
    return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type === 'info' ? 'gauge' : type}\n`;
  }
  const base = toOpenMetricsName(name, type);
  const unit = /_(seconds|bytes)$/.exec(base)?.[1];
  const unitLine = unit === undefined ? '' : `# UNIT ${base} ${unit}\n`;
  return `# HELP ${base} ${escapeLabel(help)}\n# TYPE ${base} ${type}\n${unitLine}`;
}

export function renderEnd(format: TextFormat): string {
  return format === 'openmetrics' ? '# EOF\n' : '';
}

/** Returns the name for the header. In OpenMetrics, names of counters and infos have no suffix in the header. */
function toOpenMetricsName(name: string, type: Family['type']): string {
  if (type === 'counter') return name.replace(/_total$/, '');
  return type === 'info' ? name.replace(/_info$/, '') : name;
}

function renderPairs(pairs: readonly LabelPair[]): string {
  return pairs.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',');
}

/** Renders labels that only some rows of a family have. */
function renderRest(added: Row['added'], extra: Row['extra']): string {
  const pairs = renderPairs(added ?? []);
  if (extra === undefined) return pairs;
  return `${pairs}${pairs && ','}${extra[0]}="${renderBound(extra[1])}"`;
}

function escapeLabel(value: string): string {
  if (!/["\\\n]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function escapeHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/** Renders the bound of a bucket. Both text formats write bounds as in OpenMetrics: `1.0`. */
function renderBound(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : renderValue(value);
}

function renderValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
