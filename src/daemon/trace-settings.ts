import type { Config, ServerConfig } from '../config/config.ts';
import type { TraceFormat } from '../tracing/plan/estimate.ts';
import { type TraceSettings, traceDefaults } from '../tracing/plan/settings.ts';

/** What is known of a server only once it was asked, and of ourselves. */
type About = {
  /** How often its ids have started again; from the second time on it is part of the namespace. */
  readonly epoch: number;
  readonly release: string | undefined;
  /** Ours. */
  readonly version: string;
  readonly format: TraceFormat;
};

/** How the traces of a server are made: by the daemon, and by `replay` the same. */
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
