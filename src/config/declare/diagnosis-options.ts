import { pattern, patternList } from '../patterns/pattern.ts';
import { mapList } from '../values/lists.ts';
import { size } from '../values/number.ts';
import { boolean, choice } from '../values/value-type.ts';
import { type OptionTree, option } from './option.ts';

const logsKept = choice('none', 'fingerprint', 'lines');

const diagnosisOverrides = mapList(
  { match: pattern.schema, logs: logsKept.schema },
  {
    takes: 'a list of patterns with what to keep of the logs of their projects',
    example: '[{ match: "pay.*", logs: lines }]',
    unique: [],
  },
);

export const diagnosisOptions = {
  enabled: option(boolean, true).help(
    'Classify failed executions by their first cause; reads the steps of failed executions even where traces do not show them.',
  ),
  logs: option(logsKept, 'fingerprint').help(
    'What to keep of the log of a failed execution, at one request for each failure: nothing; a fingerprint of the lines that describe the failure, which shows whether a job failed so before; or also the last 50 lines of the failed step, without the secrets that were found in them, on its page and as OTLP log records where traces are sent.',
  ),
  overrides: option(diagnosisOverrides, []).help(
    'What to keep of logs for projects that match a pattern; the first match wins.',
  ),
  redact: option(patternList, []).help(
    'Patterns of lines that are replaced as a whole before they are shown or sent, for secrets of which the exporter does not know the form; a pattern describes the whole line.',
  ),
  events: option(boolean, false).help(
    'Also send each change of the journal as an OTLP log record (event automation.change), where traces are sent.',
  ),
  log_bytes_per_hour: option(size, '1MiB').help(
    'Maximum size of the log records that are sent for a server in an hour; lines beyond it are only on pages.',
  ),
} as const satisfies OptionTree;
