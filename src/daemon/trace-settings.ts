import type { Config, ServerConfig } from '../config/config.ts';
import type { TraceFormat } from '../tracing/plan/estimate.ts';
import { type TraceSettings, traceDefaults } from '../tracing/plan/settings.ts';

/** Facts that are known only after contact with the server, and facts about the exporter. */
type About = {
  /** The number of times that its ids started; from 2 on, it is part of the namespace. */
  readonly epoch: number;
  readonly release: string | undefined;
  readonly version: string;
  readonly format: TraceFormat;
};

/** Returns the settings for the traces of a server, the same for the daemon and for `replay`. */
export function toTraceSettings(server: ServerConfig, traces: Config['traces'], about: About): TraceSettings {
  const { namespace, name } = server;
  const { epoch, release, version, format } = about;
  return {
    ...traceDefaults,
    namespace: epoch > 1 ? `${namespace}#${epoch}` : namespace,
    server: name,
    service: traces.serviceName,
    release,
    distro: { name: 'automation-exporter', version },
    detail: traces.detail,
    joining: traces.upstream,
    customStatuses: traces.statusMap,
    options: traces.optionsAllow,
    withUserNames: traces.userNames,
    withArgstring: traces.argstring,
    maxSpans: traces.maxSpans,
    format,
  };
}
