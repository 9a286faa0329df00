import type { Parsed } from './duration.ts';
import { parsedText, type ValueType } from './value-type.ts';

const place = '{trace_id}';

/** The address of a trace in the backend that shows it, with a place for the id. */
export const traceLink: ValueType<string, 'plain'> = parsedText(parseTraceLink, {
  takes: 'a web address with {trace_id} in it',
  examples: [`https://traces.example.org/trace/${place}`],
  placeholder: 'URL',
  pattern: '^[hH][tT][tT][pP][sS]?://\\S*\\{trace_id\\}\\S*$',
  format: (value) => value,
});

// No message repeats the address: it may hold a password.
function parseTraceLink(text: string): Parsed<string> {
  const filled = text.replaceAll(place, '0'.repeat(32));
  if (!/^https?:\/\/[^\s/\\]/i.test(text) || /[\s\\]/.test(text) || !URL.canParse(filled)) {
    return { problem: 'is not a web address' };
  }
  if (!text.includes(place)) return { problem: `has no ${place}` };
  const { username, password } = new URL(filled);
  if (username !== '' || password !== '') {
    return { problem: 'holds a user or a password', hint: 'they would be visible to everyone who sees the page' };
  }
  return { value: text };
}
