import { pattern, patternList } from '../patterns/pattern.ts';
import { mapList } from '../values/lists.ts';
import { size } from '../values/number.ts';
import { boolean, choice } from '../values/value-type.ts';
import { type OptionTree, option } from './option.ts';

const logsKept = choice('none', 'fingerprint', 'lines');

const diagnosisOverrides = mapList(
  { match: pattern.schema, logs: logsKept.schema },
  {
    takes: 'a list of patterns of projects, each with what to keep of their logs',
    example: '[{ match: "pay.*", logs: lines }]',
    unique: [],
  },
);

export const diagnosisOptions = {
  enabled: option(boolean, true).help(
    'Classify failed executions by their first cause. If true, the steps of failed executions are read even if traces omit steps.',
  ),
  logs: option(logsKept, 'fingerprint').help(
    'What to keep of the log of a failed execution; reading the log costs one request. none: nothing; fingerprint: a hash of the lines that describe the failure, which shows whether the job failed in the same way before; lines: also 50 lines of the failed step, its errors and its last lines, without the secrets that were found; for a long log this costs up to five more requests. Pages show the lines; if traces are sent, the lines are sent too, as OTLP log records.',
  ),
  overrides: option(diagnosisOverrides, []).help(
    'What to keep of logs for projects that match a pattern; the first match wins.',
  ),
  redact: option(patternList, []).help(
    'Patterns of log lines with secrets of a form that the exporter does not know. A line that a pattern matches as a whole is replaced before it is shown or sent.',
  ),
  events: option(boolean, false).help(
    'Also send each change of the journal as an OTLP log record (event automation.change), if traces are sent.',
  ),
  log_bytes_per_hour: option(size, '1MiB').help(
    'Maximum size of the log records that are sent for a server in an hour; further lines are only on pages.',
  ),
} as const satisfies OptionTree;
