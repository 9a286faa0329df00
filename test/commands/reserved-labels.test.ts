import { describe, expect, it } from 'vitest';
import { listFamilies, listTakenLabels } from '../../src/commands/reserved-labels.ts';
import { toOwnFamilies } from '../../src/metrics/reference.ts';
import { createSelf } from '../../src/metrics/self.ts';

describe('commands/reserved-labels', () => {
  it('reserves every label of a series', () => {
    const self = createSelf({ version: '', nodeVersion: '' });
    const all = [...listFamilies(), ...toOwnFamilies(self.registry)].flatMap(({ labels }) => labels);
    const taken = new Set(listTakenLabels().ofServers);

    expect(all.length).toBeGreaterThan(20);
    expect(all.filter((label) => !taken.has(label))).toEqual([]);
    for (const label of ['server', 'member', 'le', 'quantile', 'job', 'instance']) expect(taken).toContain(label);
  });

  it('reserves every label of projects', () => {
    expect(listTakenLabels().ofProjects).toEqual(
      expect.arrayContaining(['server', 'member', 'project', 'label', 'created', 'job', 'instance']),
    );
    expect(listTakenLabels().ofProjects).not.toContain('version');
  });

  it('reserves the labels of every collector', () => {
    const families = listFamilies();
    expect(families).toContainEqual({ name: 'automation_log_storage_info', type: 'info', labels: ['plugin'] });
    expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
  });
});
