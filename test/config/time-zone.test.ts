import { expect, it } from 'vitest';
import { timeZone } from '../../src/config/values/time-zone.ts';
import { checkValue } from '../../src/config/values/value-type.ts';

it.each([
  ['Europe/Berlin', { value: 'Europe/Berlin' }],
  ['europe/berlin', { value: 'Europe/Berlin' }],
  ['Etc/UTC', { value: 'UTC' }],
  ['Berlin', { problems: [{ message: expect.stringMatching(/^is not the name of a time zone /) }] }],
])('reads %j', (text, read) => {
  expect(checkValue(timeZone, text)).toMatchObject(read);
});
