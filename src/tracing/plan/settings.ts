import type { Result } from './attribute-names.ts';
import type { Detail } from './detail.ts';
import type { TraceFormat } from './estimate.ts';
import type { Joining } from './ids.ts';

export type TraceSettings = {
  /** The namespace of ids. All members of a server have the same namespace. */
  readonly namespace: string;
  readonly server: string;
  /** The `service.name` of the watched service. */
  readonly service: string;
  readonly release: string | undefined;
  readonly distro: { readonly name: string; readonly version: string };
  readonly detail: Detail;
  readonly joining: Joining;
  /** The results of custom statuses. A status that is not listed is a failure. */
  readonly customStatuses: Readonly<Record<string, Result>>;
  /** The options of executions whose values are shown. */
  readonly options: readonly string[];
  readonly withUserNames: boolean;
  readonly withArgstring: boolean;
  readonly maxSpans: number;
  /** The maximum size of one request, before compression. */
  readonly maxBytes: number;
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
