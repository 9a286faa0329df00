import type { Result } from './attribute-names.ts';
import type { Detail } from './detail.ts';
import type { TraceFormat } from './estimate.ts';
import type { Joining } from './ids.ts';

/** The settings of a plan. */
export type TraceSettings = {
  /** Of the ids: the same for all members of a server. */
  readonly namespace: string;
  /** The server as it is configured. */
  readonly server: string;
  /** The `service.name` of what is traced. */
  readonly service: string;
  /** The release of the service, where it is known. */
  readonly release: string | undefined;
  /** The name and version of this exporter, as the spans carry them. */
  readonly distro: { readonly name: string; readonly version: string };
  readonly detail: Detail;
  readonly joining: Joining;
  /** The results of custom statuses; a failure for those not in it. */
  readonly customStatuses: Readonly<Record<string, Result>>;
  /** The options whose values are shown. */
  readonly options: readonly string[];
  readonly withUserNames: boolean;
  readonly withArgstring: boolean;
  readonly maxSpans: number;
  /** Of one request, before it is compressed. */
  readonly maxBytes: number;
  /** The encoding; protobuf by default. */
  readonly format?: TraceFormat;
};

export const traceDefaults = {
  service: 'automation-service',
  release: undefined,
  detail: 'nodes',
  joining: { option: 'traceparent', mode: 'link' },
  customStatuses: {},
  options: [],
  withUserNames: false,
  withArgstring: false,
  maxSpans: 5000,
  maxBytes: 4 * 1024 * 1024,
} as const satisfies Partial<TraceSettings>;
