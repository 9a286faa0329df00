export type Shown = ReadonlyMap<string, number>;

const read = new WeakMap<Buffer, readonly (readonly [string, number])[]>();

/** Reads a scrape; unchanged blocks are not parsed again. */
export function readShown(text: readonly Buffer[]): Map<string, number> {
  const shown = new Map<string, number>();
  for (const piece of text) {
    let lines = read.get(piece);
    if (lines === undefined) {
      lines = readLines(piece.toString('utf8'));
      read.set(piece, lines);
    }
    for (const [key, value] of lines) shown.set(key, value);
  }
  return shown;
}

function readLines(text: string): [string, number][] {
  const lines: [string, number][] = [];
  for (const line of text.split('\n')) {
    const space = line.lastIndexOf(' ');
    if (space > 0 && !line.startsWith('#')) lines.push([line.slice(0, space), Number(line.slice(space + 1))]);
  }
  return lines;
}

export function isCounter(key: string): boolean {
  const name = key.slice(0, key.indexOf('{'));
  return endings.some((ending) => name.endsWith(ending));
}

const endings = ['_total', '_count', '_sum', '_bucket'];

export function labelOf(key: string, label: string): string | undefined {
  const start = key.indexOf(`${label}="`);
  if (start < 0) return undefined;
  const from = start + label.length + 2;
  return key.slice(from, key.indexOf('"', from));
}

/** Returns the number of counted runs by project and status, or by trigger. */
export function countRuns(shown: Shown, runs = 'automation_executions_total{'): Map<string, Map<string, number>> {
  const projects = new Map<string, Map<string, number>>();
  for (const [key, value] of shown) {
    if (!key.startsWith(runs)) continue;
    const project = labelOf(key, 'project') ?? '';
    const trigger = labelOf(key, 'trigger');
    const status = `${trigger === undefined ? '' : `${trigger} `}${labelOf(key, 'status') ?? ''}`;
    const statuses = projects.get(project) ?? new Map<string, number>();
    statuses.set(status, (statuses.get(status) ?? 0) + value);
    projects.set(project, statuses);
  }
  return projects;
}
