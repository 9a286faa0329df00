import { traceLink } from '../values/address.ts';
import { duration } from '../values/duration.ts';
import { textList } from '../values/lists.ts';
import { statusMap } from '../values/maps.ts';
import { size, wholeNumber } from '../values/number.ts';
import { plainName } from '../values/texts.ts';
import { boolean, choice } from '../values/value-type.ts';
import { type OptionTree, option, optional } from './option.ts';

export const traceOptions = {
  enabled: option(choice('auto', 'on', 'pages', 'off'), 'auto').help(
    'Whether to create a trace for each execution. on: send it; pages: only show its steps on its page, at 2 to 3 requests for each execution (one with detail: root); off: neither; auto: on if OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set, else pages.',
  ),
  detail: option(choice('root', 'steps', 'nodes'), 'nodes').help(
    'Content of a trace: only the execution (root), also its steps, or also the nodes of each step; root sends the fewest requests.',
  ),
  service_name: option(plainName, 'automation-service').help('Value of the service.name resource attribute.'),
  seal_timeout: option(duration('1s', '1d'), '10m').help(
    'How long to wait for complete steps of a finished execution.',
  ),
  max_age: option(duration('1m', '4w'), '24h').help('Executions found later than this after their end get no trace.'),
  max_spans: option(wholeNumber(2, 100_000), 5000).help('Maximum number of spans per execution.'),
  upstream: {
    option: option(plainName, 'traceparent').help('Execution option that may hold the trace context of the caller.'),
    mode: option(choice('parent', 'link', 'off'), 'link').help(
      'How to use the trace context of the caller: as parent, as link, or not at all.',
    ),
  },
  status_map: option(statusMap, {}).help(
    'Result of executions with a custom status: success, failure, error, timeout, cancellation or skip; statuses that are not listed are failures.',
  ),
  options_allow: option(textList, []).help('Execution options whose values are shown in traces.'),
  user_names: option(boolean, false).help('Show in traces the users who started and aborted an execution.'),
  argstring: option(boolean, false).help('Show in traces the arguments of an execution.'),
  link: optional(traceLink).help(
    'URL of a trace in your trace viewer, with {trace_id} in place of the trace id; pages link to it.',
  ),
  spool: {
    max_bytes: option(size, '256MiB').help(
      'Maximum size of traces waiting for delivery; when it is reached, new traces are postponed, and counting continues.',
    ),
    max_pending: option(wholeNumber(1, 10_000_000), 100_000).help(
      'Maximum number of executions that wait for their steps or for delivery of their traces.',
    ),
  },
} as const satisfies OptionTree;
