import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Api } from '../../src/api/client.ts';
import { defineEndpoint, type EndpointInput, sinceVersion, toPath } from '../../src/api/endpoint.ts';

const executions = defineEndpoint({
  name: 'executions',
  path: 'project/{project}/job/{job}/executions',
  query: ['max', 'offset'],
  since: { service: 5, rundeck: 14 },
  allowedBy: [],
  body: z.string(),
});
const info = defineEndpoint({ name: 'info', path: 'system/info', since: 14, allowedBy: [], body: z.string() });

describe('api/endpoint', () => {
  it.each([
    ['pay', 'pay'],
    ['a/b', 'a%2Fb'],
    ['../../admin', '..%2F..%2Fadmin'],
    ['...', '...'],
    ['%2e%2e', '%252e%252e'],
    ['a?x=1#y', 'a%3Fx%3D1%23y'],
    ['a b+c', 'a%20b%2Bc'],
    ['é😀', '%C3%A9%F0%9F%98%80'],
    ['line\r\nHost: x', 'line%0D%0AHost%3A%20x'],
    ['{job}', '%7Bjob%7D'],
    ['$&', '%24%26'],
    ['half \uD83D of one', 'half%20%EF%BF%BD%20of%20one'],
  ])('keeps %j within its path segment', (project, expected) => {
    expect(toPath(executions, { path: { project, job: 'j' } })).toBe(`project/${expected}/job/j/executions`);
  });

  it('writes a list as several segments', () => {
    const path = { project: ['team a', 'x/y', '...'], job: [] };
    expect(toPath(executions, { path })).toBe('project/team%20a/x%2Fy/.../job//executions');
  });

  it.each([{ job: '' }, { job: '.' }, { job: '..' }, { job: ['a', '..', 'b'] }])(
    'refuses $job, which URL parsers would remove',
    ({ job }) => {
      expect(() => toPath(executions, { path: { project: 'p', job } })).toThrow(
        expect.objectContaining({
          message: 'GET executions: not asked, its job is empty or consists of dots, which a path cannot contain',
          kind: 'rejected',
        }),
      );
    },
  );

  it('sends only the declared query names', () => {
    const path = { project: 'p', job: 'j' };
    const query = { offset: 20, max: 'a&b=c', format: 'xml' };
    expect(toPath(executions, { path, query })).toBe('project/p/job/j/executions?max=a%26b%3Dc&offset=20');
    expect(toPath(executions, { path, query: { max: undefined } })).toBe('project/p/job/j/executions');
    expect(toPath(executions, { path, query: { max: ['a', 'b'] } })).toBe('project/p/job/j/executions?max=a&max=b');
    expect(toPath(info)).toBe('system/info');
  });

  it('removes fractions of milliseconds', () => {
    const path = { project: 7.9, job: -0.5 };
    const query = { max: 1_795_321_521_803.9004, offset: -1.5 };
    expect(toPath(executions, { path, query })).toBe('project/7/job/0/executions?max=1795321521803&offset=-1');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e21])('rejects %d, which is not a number of milliseconds', (max) => {
    const path = { project: 'p', job: 'j' };
    expect(() => toPath(executions, { path, query: { max } })).toThrow(
      expect.objectContaining({
        message: `GET executions: not asked, its max would be ${max}, which is not a whole number`,
        kind: 'rejected',
      }),
    );
  });

  it('uses the later of two versions while the dialect is unknown', () => {
    expect(sinceVersion(executions, undefined)).toBe(14);
    expect(sinceVersion(executions, 'service')).toBe(5);
    expect(sinceVersion(executions, 'rundeck')).toBe(14);
    expect(sinceVersion(info, undefined)).toBe(14);
  });

  it('requires the parameters of the path', () => {
    type Input = EndpointInput<'project/{project}/job/{job}', 'max'>;
    expectTypeOf<Input['path']>().toEqualTypeOf<
      Readonly<Record<'project' | 'job', string | number | readonly string[]>>
    >();
    expectTypeOf<keyof NonNullable<Input['query']>>().toEqualTypeOf<'max'>();
    expectTypeOf<EndpointInput<'system/info', never>['path']>().toEqualTypeOf<undefined>();

    const ask = (api: Api) => [
      api.get(info),
      api.get(executions, { path: { project: 'p', job: 1 }, query: { max: 1 } }),
      // @ts-expect-error: the path has parameters
      api.get(executions),
      // @ts-expect-error: one parameter of the path is missing
      api.get(executions, { path: { project: 'p' } }),
      // @ts-expect-error: the query has no such name
      api.get(executions, { path: { project: 'p', job: 1 }, query: { format: 'xml' } }),
    ];
    expectTypeOf(ask).returns.toBeArray();
  });
});
