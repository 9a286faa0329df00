import type { Source } from './sources.ts';

/** The one implementation of the port `domain/clock.ts`. */
const home = 'src/domain/system-clock.ts';

/** Places that may use the process's own time, and why; a folder ends with a slash. */
export const exempt: readonly { readonly place: string; readonly because: string }[] = [
  { place: 'simulator/', because: 'it stands for another machine' },
  { place: 'src/http/server/limits.ts', because: 'the time of sockets' },
  { place: 'src/http/server/server.ts', because: 'the time of sockets' },
  { place: 'src/diagnosis/changes/kept-journal.ts', because: 'a key that nobody can guess' },
  { place: 'src/http/access/users.ts', because: 'a key that nobody can guess' },
  { place: 'src/diagnosis/lines/diagnoses.ts', because: 'a key that nobody can guess' },
  { place: 'src/commands/', because: 'commands that run once' },
  { place: 'src/daemon/self-tracing.ts', because: 'the limit of a stop, beside an SDK with timers of its own' },
  { place: 'src/commands/log.ts', because: 'a line tells when it was written' },
];

const sources: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  { pattern: /\b(?:set|clear)(?:Timeout|Interval|Immediate)\b/g, what: 'a timer' },
  { pattern: /['"](?:node:)?timers(?:\/promises)?['"]/g, what: 'a timer' },
  { pattern: /\bAbortSignal\.timeout\b/g, what: 'a timer' },
  { pattern: /\bDate\.now\b/g, what: 'a clock' },
  { pattern: /\bnew Date\(\s*\)/g, what: 'a clock' },
  { pattern: /\bperformance\.(?:now|timeOrigin)\b/g, what: 'a clock' },
  { pattern: /\bprocess\.(?:hrtime|uptime)\b/g, what: 'a clock' },
  { pattern: /\bMath\.random\b/g, what: 'chance' },
  { pattern: /\b(?:randomBytes|randomUUID|randomInt|getRandomValues)\b/g, what: 'chance' },
];

/** One sentence for each place that gets time or randomness without the port. */
export function findTimeSources(files: readonly Source[]): readonly string[] {
  const judged = files.filter(({ path }) => path !== home && !exempt.some(({ place }) => isAt(path, place)));
  return judged.flatMap(({ path, text }) =>
    toCodeLines(text).flatMap((line, index) =>
      sources.flatMap(({ pattern, what }) =>
        [...line.matchAll(pattern)].map(
          ([found]) => `${path}:${index + 1} uses ${what} of its own (${found}): take it from a Clock.`,
        ),
      ),
    ),
  );
}

function isAt(path: string, place: string): boolean {
  return place.endsWith('/') ? path.startsWith(place) : path === place;
}

function toCodeLines(text: string): readonly string[] {
  return text.split('\n').map((line) => (/^\s*(?:\/\/|\/?\*)/.test(line) ? '' : line));
}
