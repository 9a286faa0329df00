import type { Config } from './config/config.ts';
import type { CollectorStatus, Status } from './http/front-page.ts';
import type { PollStatus } from './schedule/scheduler.ts';

type StatusParts = {
  readonly config: Config;
  readonly version: string;
  readonly polls: readonly PollStatus[];
  readonly nowMs: number;
};

/** What the front page tells, from what the schedule knows. */
export function toStatus({ config, version, polls, nowMs }: StatusParts): Status {
  return {
    version,
    metricsPath: config.web.telemetryPath,
    servers: config.servers.map(({ name, url }) => ({
      name,
      url,
      collectors: Object.entries(config.collectors).map(([collector, { enabled }]) => {
        const poll = polls.find((candidate) => candidate.key.server === name && candidate.key.collector === collector);
        return toCollectorStatus(collector, enabled, poll, nowMs);
      }),
    })),
  };
}

function toCollectorStatus(
  name: string,
  isEnabled: boolean,
  poll: PollStatus | undefined,
  nowMs: number,
): CollectorStatus {
  if (!isEnabled)
    return { name, mood: 'off', result: 'off', message: 'switched off by configuration', ageSeconds: undefined };
  if (poll?.last === undefined) return { name, mood: 'off', result: 'waiting', message: '', ageSeconds: undefined };
  const { outcome, endedAtMs } = poll.last;
  const ageSeconds = Math.max(0, (nowMs - endedAtMs) / 1000);
  if (outcome.result === 'success') {
    return { name, mood: 'good', result: `ok, ${outcome.series} series`, message: '', ageSeconds };
  }
  const { message } = outcome;
  if (outcome.result === 'off') return { name, mood: 'off', result: outcome.reason, message, ageSeconds };
  return { name, mood: 'bad', result: outcome.kind, message, ageSeconds };
}
