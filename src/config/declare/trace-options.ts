import { size, wholeNumber } from '../values/number.ts';
import { statusMap } from '../values/status-map.ts';
import { plainName, textList, traceLink } from '../values/texts.ts';
import { boolean, choice, duration } from '../values/value-type.ts';
import { type OptionTree, option, optional } from './option.ts';

export const traceOptions = {
  enabled: option(
    choice('auto', 'on', 'pages', 'off'),
    'auto',
    'Whether to create a trace for each execution. on: send it; pages: only show its steps on its page, at 2 to 3 requests for each execution (one with detail: root); off: neither; auto: on if OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set, else pages.',
  ),
  detail: option(
    choice('root', 'steps', 'nodes'),
    'nodes',
    'Content of a trace: only the execution (root), also its steps, or also the nodes of each step; root sends the fewest requests.',
  ),
  service_name: option(plainName(), 'automation-service', 'Value of the service.name resource attribute.'),
  seal_timeout: option(
    duration({ min: '1s', max: '1d' }),
    '10m',
    'How long to wait for complete steps of a finished execution.',
  ),
  max_age: option(
    duration({ min: '1m', max: '4w' }),
    '24h',
    'Executions found later than this after their end get no trace.',
  ),
  max_spans: option(wholeNumber({ min: 2, max: 100_000 }), 5000, 'Maximum number of spans per execution.'),
  upstream: {
    option: option(plainName(), 'traceparent', 'Execution option that may hold the trace context of the caller.'),
    mode: option(
      choice('parent', 'link', 'off'),
      'link',
      'How to use the trace context of the caller: as parent, as link, or not at all.',
    ),
  },
  status_map: option(
    statusMap,
    {},
    'Result of executions with a custom status: success, failure, error, timeout, cancellation or skip; statuses that are not listed are failures.',
  ),
  options_allow: option(textList, [], 'Execution options whose values are shown in traces.'),
  user_names: option(boolean, false, 'Show in traces the users who started and aborted an execution.'),
  argstring: option(boolean, false, 'Show in traces the arguments of an execution.'),
  link: optional(
    traceLink,
    'URL of a trace in your trace viewer, with {trace_id} in place of the trace id; pages link to it.',
  ),
  spool: {
    max_bytes: option(
      size,
      '256MiB',
      'Maximum size of traces waiting for delivery; when it is reached, new traces are postponed, and counting continues.',
    ),
    max_pending: option(
      wholeNumber({ min: 1, max: 10_000_000 }),
      100_000,
      'Maximum number of executions that wait for their steps or for delivery of their traces.',
    ),
  },
} as const satisfies OptionTree;
