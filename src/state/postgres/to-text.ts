/** PostgreSQL keeps every character but the null character; the mark for an unknown one takes its place. */
export function toText(text: string): string {
  return text.replaceAll('\0', '\u{fffd}');
}
