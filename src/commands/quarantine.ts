import { toAge, toTime } from '../domain/ages.ts';
import { toCount, toSize } from '../domain/format.ts';
import { askDaemon, type DaemonAnswer } from './ask-daemon.ts';
import { type CommandContext, exitCodes } from './command.ts';
import { findDaemon } from './find-daemon.ts';

export async function quarantine(context: CommandContext): Promise<number> {
  const wish = readWish(context);
  const daemon = wish && (await findDaemon(context));
  if (wish === undefined || daemon === undefined) return exitCodes.misconfigured;
  const { action, keys } = wish;
  const { url } = daemon;
  const answer =
    action === 'list'
      ? await askDaemon({ ...daemon, path: '/api/quarantine' })
      : await askDaemon({
          ...daemon,
          path: `/-/quarantine/${action}`,
          body: keys.length === 0 ? { all: true } : { keys },
        });
  if (answer.kind !== 'answered') return explain(answer, url, context);
  if (!isOwn(action, answer.content)) {
    return explain({ kind: 'unreachable', says: 'a response that is not from the daemon' }, url, context);
  }
  const asJson = context.arguments.flags.get('json') === true;
  context.write(asJson ? `${JSON.stringify(answer.content, undefined, 2)}\n` : render(action, answer.content));
  return exitCodes.well;
}

const actions = ['list', 'retry', 'drop'] as const;
type Action = (typeof actions)[number];
type Wish = { action: Action; keys: readonly string[] };

/** Reads the action and the traces (none means all). Returns undefined after a complaint. */
function readWish(context: CommandContext): Wish | undefined {
  const { positionals, flags } = context.arguments;
  const [word, ...keys] = positionals;
  const action = actions.find((one) => one === word);
  const isAll = flags.get('all') === true;
  const fail = (text: string): undefined => {
    context.complain(`quarantine: ${text}\n`);
    return undefined;
  };
  if (action === undefined) return fail('an action is missing: list, retry or drop');
  if (action === 'list')
    return keys.length > 0 || isAll ? fail('list takes no arguments: it lists all traces') : { action, keys };
  if (isAll === keys.length > 0) return fail(`${action} takes traces as SERVER/EXECUTION, or all of them with --all`);
  const wrong = keys.find((key) => !/^.+\/(\d+|changes)$/s.test(key));
  if (wrong !== undefined)
    return fail(`${JSON.stringify(wrong)} is not a trace: write SERVER/EXECUTION, as printed by list`);
  return { action, keys };
}

function explain(answer: Exclude<DaemonAnswer, { kind: 'answered' }>, url: string, context: CommandContext): number {
  if (answer.kind === 'unreachable') {
    context.complain(`${url}: ${answer.says}\nIf it listens elsewhere, set --url\n`);
    return exitCodes.failed;
  }
  context.complain(`${answer.says}\n`);
  // The exit code differs: a missing trace may have been delivered meanwhile, but other errors need a person.
  return answer.status === 404 ? exitCodes.failed : exitCodes.misconfigured;
}

type Listed = {
  server: string;
  execution: number | null;
  spans: number;
  bytes: number;
  quarantined: string;
  reason: string;
};

type Owned = { server: string; owner: string | null };
type Content = { quarantined: readonly Listed[]; traces: number; elsewhere?: readonly Owned[] };

/** Reports whether the content may be a response of the daemon. */
function isOwn(action: Action, content: unknown): content is Content {
  if (typeof content !== 'object' || content === null) return false;
  if (action === 'list')
    return 'quarantined' in content && Array.isArray(content.quarantined) && content.quarantined.every(isListed);
  return 'traces' in content && typeof content.traces === 'number';
}

const texts = ['server', 'quarantined', 'reason'] as const satisfies readonly (keyof Listed)[];
const numbers = ['spans', 'bytes'] as const satisfies readonly (keyof Listed)[];

function isListed(trace: unknown): trace is Listed {
  if (typeof trace !== 'object' || trace === null) return false;
  // This cast is safe: any object can be read by name.
  const fields = trace as Readonly<Record<string, unknown>>;
  return (
    texts.every((name) => typeof fields[name] === 'string') && numbers.every((name) => typeof fields[name] === 'number')
  );
}

function render(action: Action, { quarantined, traces, elsewhere = [] }: Content): string {
  const rest = renderElsewhere(elsewhere);
  if (action === 'list') return `${renderList(quarantined)}${rest}`;
  const verb = traces === 1 ? 'is' : 'are';
  return `${toCount(traces, 'trace')} ${verb} ${action === 'retry' ? 'queued again' : 'dropped'}\n${rest}`;
}

/** Renders one line for each exporter that has traces of other servers. */
function renderElsewhere(elsewhere: readonly Owned[]): string {
  const lines = [...Map.groupBy(elsewhere, ({ owner }) => owner)].map(([owner, servers]) => {
    const names = servers.slice(0, maxNamed).map(({ server }) => server);
    const more = servers.length > names.length ? ` and ${servers.length - names.length} more` : '';
    return `Not included: ${names.join(', ')}${more} (${owner === null ? 'no exporter watches it at the moment' : `see --url=${owner}`})\n`;
  });
  return lines.join('');
}

const maxNamed = 10;

function renderList(traces: readonly Listed[]): string {
  if (traces.length === 0) return 'No trace is quarantined\n';
  const nowMs = Date.now();
  const rows = traces.map(({ server, execution, spans, bytes, quarantined, reason }) => {
    const atMs = Date.parse(quarantined);
    const since = `${toTime(atMs, nowMs)}, ${toAge(atMs, nowMs)}`;
    return [server, String(execution ?? 'changes'), String(spans), toSize(bytes), since, reason];
  });
  let sum = 0;
  for (const { bytes } of traces) sum += bytes;
  const head = ['SERVER', 'EXECUTION', 'SPANS', 'SIZE', 'QUARANTINED', 'REASON'];
  return `${renderTable([head, ...rows])}${toCount(traces.length, 'trace')}, ${toSize(sum)}\n`;
}

/** Aligns rows in columns. The last column is not padded. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, { length }] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, length);
  }
  const toLine = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${toLine(row)}\n`).join('');
}
