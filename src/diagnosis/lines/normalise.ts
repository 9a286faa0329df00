/** Replaces values that differ between failures of the same kind, such as numbers, times, addresses and quoted values. */
export function normalise(text: string): string {
  let plain = withoutAnsi(text);
  for (const [pattern, mark] of marks) plain = plain.replaceAll(pattern, mark);
  return plain.replaceAll(/\s+/g, ' ').trim();
}

export function withoutAnsi(text: string): string {
  return text.replaceAll(ansi, '');
}

const ansi = /\p{Cc}(?:\[[0-?]{0,20}[ -/]{0,5}[@-~]|\][^\p{Cc}]{0,200}\p{Cc})/gu;
const months = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}';

/** The order is important: one match may contain matches of later patterns. */
const marks: readonly (readonly [RegExp, string])[] = [
  [/[\p{Cc}\p{Cf}]/gu, ' '],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)\]]{1,1000}/gi, '<url>'],
  [/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}/g, '<user>'],
  [/‘[^’]{0,300}’|“[^”]{0,300}”/g, '<quoted>'],
  [/(?<=^|[\s=:(,[{<])(["'`])(?:(?!\1).){0,300}\1(?=\W|$)/g, '<quoted>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?/g, '<time>'],
  [
    new RegExp(
      `\\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?${months} +\\d{1,2}(?:,? \\d\\d:\\d\\d:\\d\\d)?(?: [A-Z]{3,4})?(?:,? \\d{4}\\b)?`,
      'g',
    ),
    '<time>',
  ],
  [new RegExp(`\\b\\d{1,2}[/ -]${months}[/ -]\\d{4}(?:[: ]\\d\\d:\\d\\d:\\d\\d)?(?: [+-]\\d{4})?`, 'g'), '<time>'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d{1,5})?\b/g, '<address>'],
  [/(?<![\w.-])\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?\b/g, '<time>'],
  [/(?<![\w:])(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}(?:%\w{1,15})?(?![\w:])/gi, '<address>'],
  [
    /\b(?=[a-z0-9-]{0,63}\.)(?:[a-z0-9-]{1,63}\.){1,6}(?:com|net|org|io|dev|local|internal|corp|lan|example|cloud|test|intra|svc|de|eu)\b(?::\d{1,5})?/gi,
    '<host>',
  ],
  [/\/(?:tmp|var\/tmp|private\/tmp)\/[^\s:;,()[\]<>]{1,300}/g, '<temporary>'],
  [/(?<![\w.<])\/[\w.+@=~-]{1,200}(?:\/[\w.+@=~-]{1,200}){1,30}\/?/g, '<path>'],
  [/\b[A-Za-z]:\\[^\s:;,()[\]<>]{1,300}/g, '<path>'],
  [/\b0x[0-9a-f]{1,32}\b/gi, '<hex>'],
  [/@[0-9a-f]{5,16}\b/g, '@<hex>'],
  [/\b(?=[a-f]{0,64}\d)[0-9a-f]{7,128}\b/gi, '<hex>'],
  // Does not match error codes such as ORA-01017.
  [/\b(?![A-Z]{2,8}-?\d{2,6}\b)(?=[\w-]{0,80}\d)[A-Za-z][A-Za-z0-9]{0,40}(?:[-_][A-Za-z0-9]{1,40}){0,8}\b/g, '<name>'],
  [
    /(?<![A-Z]{2}-?\d{0,6})\d+(?:[.,]\d+)*(?: ?(?:ms|[kKMGT]i?B|bytes|B|s|sec|seconds|min|minutes|h|hours|d|days|%)\b)?/g,
    '<n>',
  ],
];
