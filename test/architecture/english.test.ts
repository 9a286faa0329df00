import { describe, expect, it } from 'vitest';
import { findBannedPhrases, findRelativeComments, readTestNames, readUserTexts } from './english.ts';
import { programs, readSources } from './sources.ts';

describe('the English of this repository', () => {
  it('is plain in every text that users read', () => {
    expect(findBannedPhrases(readUserTexts())).toEqual([]);
  });

  it('is plain in the names of tests', () => {
    expect(findBannedPhrases(readTestNames())).toEqual([]);
  });

  it('describes exported things by a verb or a noun', () => {
    expect(findRelativeComments(readSources(programs))).toEqual([]);
  });
});

describe('architecture/english', () => {
  const judge = (text: string, path = 'docs/a.md') => findBannedPhrases([{ path, text }]);

  it('names the line, the phrase and the better one', () => {
    expect(judge('Fine.\nIt can not be read since too many are.\n')).toEqual([
      'docs/a.md:2 says "can not": write "cannot".',
      'docs/a.md:2 says "since too": write "because"; "since" is for times.',
    ]);
  });

  it('accepts the usual words that look alike', () => {
    expect(
      judge('There is no job. It is no longer due. Failures since it started. So long as it runs. Only this.'),
    ).toEqual([]);
  });

  it('reads the names of tests, and comments', () => {
    const named = "describe('a', () => {\n  it('tells of b', () => {\n    say('tells of c');\n";
    expect(findBannedPhrases(readTestNames([{ path: 'test/a.test.ts', text: named }]))).toEqual([
      'test/a.test.ts:2 says "tells of": write "reports" or "returns".',
    ]);
    expect(judge('// Kept, since that takes long.\n// The time, since when it runs.\n', 'src/a.ts')).toEqual([
      'src/a.ts:1 says ", since ": write "because"; "since" is for times.',
    ]);
  });

  it('names comments that start with a relative clause', () => {
    const text = '/** What a job is. */\nexport type Job = string;\n/** What nobody else sees. */\nconst a = 1;\n';
    expect(findRelativeComments([{ path: 'src/domain/a.ts', text }], ['src/domain'])).toEqual([
      'src/domain/a.ts starts a comment with "What": start with a verb or a noun. /** What a job is. */',
    ]);
    expect(findRelativeComments([{ path: 'src/domain/a.ts', text }], ['src/http'])).toEqual([]);
    const property = 'export type A = {\n  /** Whether it is. */\n  readonly is: boolean;\n};\n';
    expect(findRelativeComments([{ path: 'src/domain/a.ts', text: property }], ['src/domain'])).toEqual([
      'src/domain/a.ts starts a comment with "Whether": start with a verb or a noun. /** Whether it is. */',
    ]);
  });
});
