import { describe, expect, it } from 'vitest';
import { listGeneralLeaves, listServerLeaves } from '../../src/config/declare/catalogue.ts';
import { toSettingName } from '../../src/config/declare/option.ts';
import { toHelp } from '../../src/config/show/help.ts';
import { readSources } from '../architecture/sources.ts';
import { collectors } from './fixtures.ts';

describe('config/help', () => {
  it('shows options with all their names', () => {
    const lines = toHelp(collectors.slice(0, 1)).map((row) =>
      [row.flag ?? '-', row.env.replace('AUTOMATION_EXPORTER_', '…'), row.path ?? '-', row.default ?? '-'].join('  '),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        '--config.file=PATH  …CONFIG_FILE  -  -',
        '--web.listen-address=ADDRESS  …WEB_LISTEN_ADDRESS  web.listen_address  :9720',
        '--[no-]web.enable-lifecycle  …WEB_ENABLE_LIFECYCLE  web.enable_lifecycle  false',
        '--jobs.detail=all|top|none  …JOBS_DETAIL  jobs.detail  top',
        '--traces.upstream.option=NAME  …TRACES_UPSTREAM_OPTION  traces.upstream.option  traceparent',
        '--[no-]collector.execution-mode  …COLLECTOR_EXECUTION_MODE  collectors.execution-mode.enabled  true',
        '--collector.execution-mode.every=DURATION  …COLLECTOR_EXECUTION_MODE_EVERY  collectors.execution-mode.every  15s',
        '-  …TOKEN_FILE  servers[].token_file  -',
        '-  …TOKEN  -  -',
        '-  …PROJECTS_INCLUDE  servers[].projects.include  [".*"]',
      ]),
    );
  });

  it('has no option that the code does not use', () => {
    const readers = readSources(['src', 'alerts']).filter(
      ({ path }) =>
        path === 'src/status/limits.ts' || !/^src\/(simulator|http|status|config\/(declare|show))\//.test(path),
    );
    const unread = [...listGeneralLeaves(), ...listServerLeaves('servers[]')].filter(({ path = '', option }) => {
      const name = toSettingName(path.split('.').at(-1) ?? '', option.type.kind);
      return !readers.some(({ text }) => new RegExp(`\\b${name}\\b`).test(text));
    });
    expect(unread.map(({ path }) => path)).toEqual([]);
  });

  it('describes each option in a sentence', () => {
    const dull = toHelp(collectors).filter(({ help }) => !/^[A-Z].{10,}[^.]\.$/.test(help));
    expect(dull).toEqual([]);
  });
});
