import { describe, expect, it } from 'vitest';
import { renderTable } from '../../src/commands/quarantine.ts';

describe('commands/table', () => {
  it('makes columns as wide as needed, without blanks at the end', () => {
    const rows = [
      ['SERVER', 'SPANS', 'REASON'],
      ['a', '12', 'HTTP 400: bad span'],
      ['another', '1000000', ''],
    ];
    expect(renderTable(rows)).toBe(`SERVER   SPANS    REASON
a        12       HTTP 400: bad span
another  1000000
`);
  });
});
