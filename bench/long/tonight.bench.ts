import { createPause } from '../../src/domain/pause.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { sourceKeys } from '../../src/expected-runs/deciding/sources.ts';
import { findRisks } from '../../src/expected-runs/risks/find-risks.ts';
import { hourMs, job, nowMs } from '../../test/expected-runs/risks/some-risks.ts';
import { addNights, playNight, type Score } from '../../test/expected-runs/risks/virtual-night.ts';

/** Measures how many listed runs are harmed, how many harmed runs are listed, and the cost of a large list. */
export async function run() {
  const played = [];
  let changed = 0;
  for (let seed = 1; seed <= nights; seed += 1) {
    const night = await playNight(seed);
    const killed = await playNight(seed, { kills: true });
    changed += night.lists.filter((list, look) => list !== killed.lists[look]).length;
    played.push({ ...night, lists: [] });
  }
  const { listed, right, unseen, harmed, found, stale, byReason } = addNights(played);
  const shares = [...byReason].map(([reason, score]) => [reason, toShare(score)] as const);
  const [worst, least] = shares.toSorted(([, one], [, other]) => one - other)[0] ?? ['', 0];
  const longest = await measureLongest();
  return [
    toFigure(
      `of ${listed - unseen} runs listed in ${nights} nights come to harm`,
      toShare({ listed, right, unseen }),
      '>= 95 %',
      right >= 0.95 * (listed - unseen),
    ),
    toFigure(
      `of those listed for ${worst}, the reason of ${byReason.size} with the lowest share`,
      least,
      '>= 95 %',
      least >= 95,
    ),
    toFigure(
      `of ${harmed} runs whose trouble was known an hour before were listed`,
      (100 * found) / harmed,
      '>= 95 %',
      found >= 0.95 * harmed,
    ),
    toFigure('lists that kills, reloads or another replica change', changed, '0', changed === 0),
    toFigure('runs listed after the end of their trouble', stale, '0', stale === 0),
    toFigure('longest piece of work with 5,000 jobs at risk, in ms', longest, '< 50', longest < 50),
  ];
}

const nights = Number(process.env['TONIGHT_NIGHTS'] ?? 100);

/** Returns a share; a warning without an outcome counts as neither right nor wrong. */
function toShare({ listed, right, unseen }: Pick<Score, 'listed' | 'right' | 'unseen'>): number {
  return (100 * right) / (listed - unseen);
}

function toFigure(what: string, figure: number, mustReach: string, reached: boolean) {
  return { what, figure: figure.toFixed(2), mustReach, reached };
}

async function measureLongest(): Promise<number> {
  const jobs = Array.from({ length: 5000 }, (_, index) =>
    job(
      `job ${index}`,
      Array.from({ length: 24 }, (_each, half) => 30 * half + (index % 30)),
    ),
  );
  const sources = new Map([[sourceKeys.mode(), [{ value: 'passive', fromMs: nowMs - hourMs, throughMs: nowMs }]]]);
  let longest = 0;
  // CPU time is measured, because other programs add to the elapsed time.
  const nowOwnMs = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 1000;
  let sinceMs = nowOwnMs();
  const rest = createPause(systemClock);
  const pause = async (): Promise<void> => {
    const before = nowOwnMs();
    let hasYielded = false;
    setImmediate(() => {
      hasYielded = true;
    });
    await rest();
    if (!hasYielded) return;
    longest = Math.max(longest, before - sinceMs);
    sinceMs = nowOwnMs();
  };
  await findRisks(
    {
      jobs,
      nowMs,
      untilMs: nowMs + 12 * hourMs,
      sources,
      factsOf: () => ({ consecutiveFailures: 0 }),
      durationMs: () => 60_000,
      nodes: new Map(),
      surroundings: undefined,
      running: new Map(),
      crowds: [],
      areThreadsKnown: true,
      isCritical: () => false,
    },
    pause,
  );
  return Math.max(longest, nowOwnMs() - sinceMs);
}
