import { wholeNumber } from '../values/number.ts';
import { size } from '../values/size.ts';
import { statusMap } from '../values/status-map.ts';
import { textList } from '../values/text-list.ts';
import { plainName } from '../values/texts.ts';
import { traceLink } from '../values/trace-link.ts';
import { boolean, choice, duration } from '../values/value-type.ts';
import { type OptionTree, option, optional } from './option.ts';

/** What is said of traces; where they are sent, the variables of OpenTelemetry say. */
export const traceOptions = {
  enabled: option(
    choice('auto', 'on', 'off'),
    'auto',
    'Whether each execution becomes a trace; auto: once OTEL_EXPORTER_OTLP_ENDPOINT, or its form for traces, is set.',
  ),
  detail: option(
    choice('root', 'steps', 'nodes'),
    'nodes',
    'What a trace shows: the execution alone, its steps as well, or the nodes of each step too; root asks the least of the server.',
  ),
  service_name: option(plainName(), 'automation-service', 'The service.name of what is traced.'),
  seal_timeout: option(
    duration({ min: '1s', max: '1d' }),
    '10m',
    'How long the steps of an execution that is over are waited for.',
  ),
  max_age: option(
    duration({ min: '1m', max: '4w' }),
    '24h',
    'Executions that are found longer after their end get no trace.',
  ),
  max_spans: option(wholeNumber({ min: 2, max: 100_000 }), 5000, 'Most spans of one execution.'),
  upstream: {
    option: option(plainName(), 'traceparent', "Option of an execution that may hold the caller's trace context."),
    mode: option(
      choice('parent', 'link', 'off'),
      'link',
      "What to do with it: be part of the caller's trace, link to it, or nothing.",
    ),
  },
  status_map: option(
    statusMap,
    {},
    'How executions end whose job gave them a status of its own: success, failure, error, timeout, cancellation or skip; failure for what is not named.',
  ),
  options_allow: option(textList, [], 'Options of executions whose values may be shown in traces.'),
  user_names: option(boolean, false, 'Show in traces who started and who aborted an execution.'),
  argstring: option(boolean, false, 'Show in traces with which arguments an execution was started.'),
  link: optional(
    traceLink,
    'Where a trace is shown: pages link there, with the id of the trace in place of {trace_id}.',
  ),
  spool: {
    max_bytes: option(
      size,
      '256MiB',
      'Most that may wait to be sent; when it is full, steps wait, and counting goes on.',
    ),
    max_pending: option(
      wholeNumber({ min: 1, max: 10_000_000 }),
      100_000,
      'Most executions that may wait for their steps, or their traces to be sent.',
    ),
  },
} as const satisfies OptionTree;
