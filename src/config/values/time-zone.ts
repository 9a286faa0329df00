import { parsedText } from './value-type.ts';

export const timeZone = parsedText(
  (text) => {
    try {
      // The name is normalised, because the function accepts other spellings too.
      return { value: new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone };
    } catch {
      return { problem: 'is not the name of a time zone' };
    }
  },
  {
    takes: 'the name of a time zone',
    examples: ['UTC', 'Europe/Berlin', 'America/New_York'],
    placeholder: 'ZONE',
    json: {},
    format: (name: string) => name,
  },
);
