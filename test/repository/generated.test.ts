import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generated } from '../../scripts/generated.ts';

describe('repository/generated', () => {
  it.each(Object.entries(generated()))('%s is fresh (npm run generate)', (path, text) => {
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(text);
  });
});
