import { describe, expect, it } from 'vitest';
import { createOddRows } from '../../src/executions/reading/window-reader.ts';

describe('executions/odd-rows', () => {
  it('counts an unreadable row once', () => {
    const { note, fields } = createScene();
    note('pay', [{ field: 'id', text: '{"status":"failed"}' }]);
    note('pay', [
      { field: 'id', text: '{"status":"failed"}' },
      { field: 'date-ended', text: '{"id":7}' },
    ]);
    expect(fields).toEqual(['id', 'date-ended']);
  });

  it('counts a row that is too large for any answer as skipped', () => {
    const { note, fields, skipped, complaints } = createScene();
    const row = { field: 'size', text: '1 after 6', isTooLarge: true } as const;
    note('pay', [row]);
    note('pay', [row]);
    expect([fields, skipped]).toEqual([[], ['too_large 1']]);
    expect(complaints()).toEqual(['executions that cannot be read and are not counted: 1 (`size` in pay)']);
  });

  it('reports the rows of a day, by project and field', () => {
    const { note, complaints, pass } = createScene();
    note('pay', [{ field: 'id', text: '1' }]);
    pass(86_399_999);
    note('pay', [{ field: 'id', text: '2' }]);
    note('stock', [{ field: 'date-ended', text: '3' }]);
    expect(complaints()).toEqual([
      'executions that cannot be read and are not counted: 2 (`id` in pay)',
      'executions that cannot be read and are not counted: 1 (`date-ended` in stock)',
    ]);
    pass(1);
    expect(complaints()).toEqual([
      'executions that cannot be read and are not counted: 1 (`id` in pay)',
      'executions that cannot be read and are not counted: 1 (`date-ended` in stock)',
    ]);
  });

  it('remembers at most a thousand rows', () => {
    const { note, fields } = createScene();
    for (let row = 0; row <= 1000; row += 1) note('pay', [{ field: 'id', text: `${row}` }]);
    note('pay', [{ field: 'id', text: '1000' }]);
    expect(fields).toHaveLength(1001);
    note('pay', [{ field: 'id', text: '0' }]);
    expect(fields).toHaveLength(1002);
  });
});

function createScene() {
  const fields: string[] = [];
  let ticks = 0;
  const skipped: string[] = [];
  const observe = {
    unknownValue: (field: string) => void fields.push(field),
    skipped: (reason: string, executions: number) => void skipped.push(`${reason} ${executions}`),
  };
  const { note, complaints } = createOddRows(observe, () => ticks);
  return {
    skipped,
    note,
    complaints,
    fields,
    pass: (ms: number) => {
      ticks += ms;
    },
  };
}
