import type { Config } from '../../config/config.ts';
import type { ScheduledJob } from '../../expected-runs/showing/scheduled-job.ts';
import { jobListRoute, listJobs } from '../../http/pages/jobs/job-list.ts';
import { jobPageRoute } from '../../http/pages/jobs/job-page.ts';
import { schedulePageRoute } from '../../http/pages/schedule/schedule-page.ts';
import type { FindSilence } from '../../http/pages/silence.ts';
import { skippedRoutes } from '../../http/pages/tonight/skipped-page.ts';
import { tonightRoutes } from '../../http/pages/tonight/tonight-page.ts';
import { windowsRoutes } from '../../http/pages/tonight/windows-page.ts';
import type { PageTurns } from '../../http/server/page-turns.ts';
import type { Watching } from '../generation.ts';

const lastNight = { since: { agoMs: 12 * 3_600_000 }, until: { agoMs: 0 } };

type Options = {
  readonly current: () => Pick<Config, 'servers'>;
  readonly watching: () => Watching;
  readonly silence: FindSilence;
  readonly turns: PageTurns;
};

/** Creates the pages about jobs and their past and coming runs. */
export function toJobPages({ current, watching, silence, turns }: Options) {
  const { begin, share, shareByName } = turns;
  const servers = (): readonly string[] => current().servers.map(({ name }) => name);
  const find = (server: string) => watching().watched.get(server);
  function* listAll(): Generator<ScheduledJob> {
    for (const name of servers()) yield* find(name)?.expected?.scheduled() ?? [];
  }
  return [
    jobListRoute({
      servers,
      jobs: share((pause) => listJobs(listAll(), pause)),
      ended: (server) => find(server)?.ended() ?? [],
      silence,
      begin,
    }),
    schedulePageRoute({
      servers,
      find: shareByName(async (server, pause) => find(server)?.expected?.schedule(pause)),
      silence,
    }),
    tonightRoutes({
      servers,
      risks: async (server, hours, pause) => find(server)?.expected?.outlook.risks(hours, pause),
      skipped: async (server, pause) => find(server)?.skipped(lastNight, pause),
      silence,
      shareByName,
    }),
    skippedRoutes({
      servers,
      find: async (server, ...wish) => find(server)?.skipped(...wish),
      urlOf: (server) => current().servers.find(({ name }) => name === server)?.url ?? '',
      silence,
      begin,
    }),
    windowsRoutes({
      servers,
      find: async (server, ...wish) => find(server)?.expected?.outlook.windows(...wish),
      silence,
      begin,
    }),
    jobPageRoute({
      find: (server, path) => find(server)?.job(path),
      movedTo: (server, path) => find(server)?.movedTo(path),
      silence,
    }),
  ];
}
