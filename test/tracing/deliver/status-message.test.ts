import { describe, expect, it } from 'vitest';
import { readStatusMessage } from '../../../src/tracing/deliver/verdict.ts';

describe('tracing/deliver/status-message', () => {
  it('reads a message whose length takes two bytes', () => {
    const text = 'x'.repeat(300);
    const bytes = Buffer.concat([Buffer.from([0x08, 0x03, 0x12, 0xac, 0x02]), Buffer.from(text)]);
    expect(readStatusMessage(bytes)).toBe(text);
  });

  it.each([
    ['nothing', []],
    ['a message that is cut', [0x12, 0x05, 0x61]],
    ['a number without an end', [0x08, 0xff]],
    ['another kind of field', [0x0d, 0x01]],
  ])('finds no message in %s', (_, bytes) => {
    expect(readStatusMessage(Buffer.from(bytes))).toBe('');
  });
});
