import { expect, it } from 'vitest';
import { timeZone } from '../../src/config/values/time-zone.ts';
import { checkValue } from '../../src/config/values/value-type.ts';

it.each([
  ['Europe/Berlin', { value: 'Europe/Berlin' }],
  ['europe/berlin', { value: 'Europe/Berlin' }],
  ['Etc/UTC', { value: 'UTC' }],
])('reads %j', (text, read) => {
  expect(checkValue(timeZone, text)).toMatchObject(read);
});

it('refuses what is not a zone', () => {
  const read = checkValue(timeZone, 'Berlin');
  expect('problems' in read && read.problems.map(({ message }) => message).join()).toMatch(
    /^is not the name of a time zone /,
  );
});
