import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderBill } from '../../scripts/build/bill.ts';
import { findRefusedLicences, renderLicences } from '../../scripts/build/licences.ts';
import { checkArchive, findArchitecture } from '../../scripts/build/node.ts';
import { explainOldNode } from '../../src/commands/node-version.ts';
import { makeFolder } from '../support/folder.ts';

const inside = [
  { name: '@a/b', version: '1.2.3', license: 'MIT', texts: ['Copyright A'], integrity: 'sha512-AQID' },
  { name: 'c', version: '4.0.0', license: '(MIT OR GPL-3.0)', texts: [], integrity: undefined },
];

describe('repository/build', () => {
  it('ships only packages with simple licences', () => {
    const named = (license: string) => findRefusedLicences([{ name: 'x', license }]);
    for (const license of ['MIT', 'Apache-2.0', '(MIT OR GPL-3.0)', 'MIT AND ISC']) expect(named(license)).toEqual([]);
    expect(named('GPL-3.0')).toEqual(['x (GPL-3.0)']);
    expect(named('MIT AND LGPL-3.0')).toEqual(['x (MIT AND LGPL-3.0)']);
    expect(named('none')).toEqual(['x (none)']);
  });

  it('contains the unchanged licences of its packages', () => {
    expect(
      renderLicences(inside),
    ).toBe(`The files of automation-exporter contain code of these packages, under their licences.

--------------------------------------------------------------------------------
@a/b 1.2.3 (MIT)
--------------------------------------------------------------------------------

Copyright A

--------------------------------------------------------------------------------
c 4.0.0 ((MIT OR GPL-3.0))
--------------------------------------------------------------------------------

The package contains no text of its licence, (MIT OR GPL-3.0).
`);
  });

  it('lists its packages and its Node.js as CycloneDX', () => {
    expect(renderBill({ name: 'exporter', version: '1.0.0', license: 'Apache-2.0', inside, node: '24.1.0' })).toEqual({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: {
        component: {
          type: 'application',
          'bom-ref': 'pkg:npm/exporter@1.0.0',
          name: 'exporter',
          version: '1.0.0',
          licenses: [{ license: { id: 'Apache-2.0' } }],
          purl: 'pkg:npm/exporter@1.0.0',
        },
      },
      components: [
        {
          type: 'platform',
          'bom-ref': 'pkg:generic/nodejs@24.1.0',
          name: 'nodejs',
          version: '24.1.0',
          cpe: 'cpe:2.3:a:nodejs:node.js:24.1.0:*:*:*:*:*:*:*',
          purl: 'pkg:generic/nodejs@24.1.0',
        },
        {
          type: 'library',
          'bom-ref': 'pkg:npm/%40a/b@1.2.3',
          name: '@a/b',
          version: '1.2.3',
          hashes: [{ alg: 'SHA-512', content: '010203' }],
          licenses: [{ license: { id: 'MIT' } }],
          purl: 'pkg:npm/%40a/b@1.2.3',
        },
        {
          type: 'library',
          'bom-ref': 'pkg:npm/c@4.0.0',
          name: 'c',
          version: '4.0.0',
          licenses: [{ expression: '(MIT OR GPL-3.0)' }],
          purl: 'pkg:npm/c@4.0.0',
        },
      ],
      dependencies: [
        {
          ref: 'pkg:npm/exporter@1.0.0',
          dependsOn: ['pkg:generic/nodejs@24.1.0', 'pkg:npm/%40a/b@1.2.3', 'pkg:npm/c@4.0.0'],
        },
      ],
    });
  });

  it('ships only the locked Node', () => {
    const folder = makeFolder();
    const file = join(folder, 'archive.tgz');
    writeFileSync(file, 'abc');
    const digest = '3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==';
    expect(() => checkArchive(file, `sha512-${digest}`)).not.toThrow();
    expect(() => checkArchive(file, `sha512-${digest.replace('3', '4')}`)).toThrow(
      'is not what package-lock.json pins',
    );
    expect(['x64', 'amd64', 'arm64'].map((name) => findArchitecture(name).debian)).toEqual(['amd64', 'amd64', 'arm64']);
    expect(() => findArchitecture('riscv64')).toThrow('there is no package for riscv64, only for amd64 and arm64');
  });

  it('refuses the versions of Node that the package refuses', () => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ engines: { node: '>=24.15' } });
    expect(['24.15.0', '24.21.0', '25.0.0'].map(explainOldNode)).toEqual([undefined, undefined, undefined]);
    expect(explainOldNode('24.14.9')).toContain('needs Node 24.15 or newer');
    expect(explainOldNode('20.20.2')).toContain('and this is 20.20.2');
  });
});
