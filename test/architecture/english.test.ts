import { describe, expect, it } from 'vitest';
import { findBannedPhrases, findRelativeComments, readUserTexts } from './english.ts';
import { readSources } from './sources.ts';

describe('the English of this repository', () => {
  it('is plain in every text that users read', () => {
    expect(findBannedPhrases(readUserTexts())).toEqual([]);
  });

  it('describes exported things by a verb or a noun', () => {
    expect(findRelativeComments(readSources(['src']))).toEqual([]);
  });
});

describe('architecture/english', () => {
  const judge = (text: string, path = 'docs/a.md') => findBannedPhrases([{ path, text }]);

  it('names the line, the phrase and the better one', () => {
    expect(judge('Fine.\nIt can not be read, since it is gone.\n')).toEqual([
      'docs/a.md:2 says "can not": write "cannot".',
      'docs/a.md:2 says "since it": write "because"; "since" is for times.',
    ]);
  });

  it('accepts the usual words that look alike', () => {
    expect(
      judge('There is no job. It is no longer due. Failures since it started. So long as it runs. Only this.'),
    ).toEqual([]);
  });

  it('leaves comments of the code to their own rule', () => {
    expect(judge("// It can not be.\nconst a = 'It can not be.';\n", 'src/a.ts')).toEqual([
      'src/a.ts:2 says "can not": write "cannot".',
    ]);
    const text = '/** What a job is. */\nexport type Job = string;\n/** What nobody else sees. */\nconst a = 1;\n';
    expect(findRelativeComments([{ path: 'src/domain/a.ts', text }], ['src/domain'])).toEqual([
      'src/domain/a.ts starts a comment with "What": start with a verb or a noun. /** What a job is. */',
    ]);
    expect(findRelativeComments([{ path: 'src/domain/a.ts', text }], ['src/http'])).toEqual([]);
  });
});
