import { hostname } from 'node:os';
import type { Exposition } from '../../metrics/exposition.ts';
import type { Self } from '../../metrics/self.ts';
import { createPusher, lostReasons, type Pusher, type PusherOptions, pushResults } from '../../push/pusher.ts';
import type { State } from '../../state/state.ts';
import { createPost } from '../../tracing/deliver/post.ts';
import type { PushSettings } from '../../tracing/deliver/push-settings.ts';

export type StartOptions = Pick<
  PusherOptions,
  'version' | 'epochOf' | 'labelNames' | 'droppedLabels' | 'clock' | 'log'
> & {
  readonly push: PushSettings;
  readonly exposition: Exposition;
  readonly state: Pick<State, 'recall' | 'remember' | 'origin'>;
  readonly self: Pick<Self, 'metricsPushes' | 'metricsPointsRejected'>;
  readonly readFile: (path: string) => Promise<string>;
  /** The URL at which the exporter listens. */
  readonly url: string;
};

/** Pushes the same metrics as a scrape contains. */
export function startPusher(options: StartOptions): Pusher {
  const { push, exposition, state, self, version, clock, readFile, url } = options;
  for (const result of pushResults) self.metricsPushes.inc({ result }, 0);
  for (const reason of lostReasons) self.metricsPointsRejected.inc({ reason }, 0);
  const instance = `${hostname()}:${new URL(url).port}`;
  const pusher = createPusher({
    ...options,
    settings: { ...push, resource: { 'service.instance.id': instance, ...push.resource } },
    memories: state.origin.kind === 'usual' ? state : forgetful(state),
    scrape: () => exposition.scrape({ format: 'protobuf', gzip: false }),
    post: createPost({ settings: push, readFile, userAgent: `automation-exporter/${version}`, clock }),
    observe: (result) => self.metricsPushes.inc({ result }),
    lost: (reason, points) => self.metricsPointsRejected.inc({ reason }, points),
  });
  pusher.start();
  return pusher;
}

/** Wraps the stored sums. A restored backup lacks the latest sums, so only increases after the restore are sent. */
function forgetful({ recall, remember }: StartOptions['state']): PusherOptions['memories'] {
  const known = new Set<string>();
  return {
    remember,
    recall: async (key) => {
      if (known.has(key.server)) return recall(key);
      known.add(key.server);
      return undefined;
    },
  };
}
