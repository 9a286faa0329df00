import { describe, expect, it } from 'vitest';
import { type CannedAnswer, golden, refusal, scrapeCollector, shown } from '../support/scrape.ts';

const HTML = { 'content-type': 'text/html;charset=utf-8' };
const LOGIN_PAGE =
  '<!DOCTYPE html><html><head><title>Login</title></head><body><form action="/j_security_check" method="post"><input name="j_username"><input type="password" name="j_password"></form></body></html>';

describe('collectors/system-info', () => {
  it('reads every field of the documented answer', async () => {
    // API reference, "System info". A load with a fraction is exact.
    const body = `{"system":{"timestamp":{"epoch":1716200001250,"unit":"ms","datetime":"2024-05-20T10:13:21Z"},
      "service":{"version":"5.3.0","build":"5.3.0-0","node":"auto-1","base":"/srv/auto","apiversion":47,"serverUUID":null},
      "executions":{"active":true,"executionMode":"active"},"os":{"arch":"amd64","name":"Linux","version":"6.1.0"},
      "jvm":{"name":"OpenJDK 64-Bit Server VM","vendor":"Eclipse Adoptium","version":"17.0.11","implementationVersion":"17.0.11+9"},
      "stats":{"uptime":{"duration":300584,"unit":"ms","since":{"epoch":1716199700666,"unit":"ms","datetime":"2024-05-20T10:08:20Z"}},
      "cpu":{"loadAverage":{"unit":"percent","average":1.75},"processors":4},
      "memory":{"unit":"byte","max":4294967296,"free":734003200,"total":2147483648},
      "scheduler":{"running":3,"threadPoolSize":25},"threads":{"active":35}},
      "metrics":{"href":"http://auto.example/api/47/metrics/metrics?pretty=true","contentType":"application/json"},
      "ping":{"href":"http://auto.example/api/47/metrics/ping","contentType":"text/plain"}}}`;
    expect(await scrape({ body }, { dialect: 'service' })).toEqual(shown`
        # TYPE automation_scheduler_running_executions gauge
        automation_scheduler_running_executions{server="prod"} 3
        # TYPE automation_scheduler_thread_pool_size gauge
        automation_scheduler_thread_pool_size{server="prod"} 25
        # TYPE automation_server_clock_skew_seconds gauge
        automation_server_clock_skew_seconds{server="prod"} 1.25
        # TYPE automation_server_info gauge
        automation_server_info{server="prod",version="5.3.0",build="5.3.0-0",node="auto-1",server_uuid="",api_version="47"} 1
        # TYPE automation_server_jvm_info gauge
        automation_server_jvm_info{server="prod",name="OpenJDK 64-Bit Server VM",vendor="Eclipse Adoptium",version="17.0.11",implementation_version="17.0.11+9"} 1
        # TYPE automation_server_load_average gauge
        automation_server_load_average{server="prod"} 1.75
        # TYPE automation_server_memory_free_bytes gauge
        automation_server_memory_free_bytes{server="prod"} 734003200
        # TYPE automation_server_memory_max_bytes gauge
        automation_server_memory_max_bytes{server="prod"} 4294967296
        # TYPE automation_server_memory_total_bytes gauge
        automation_server_memory_total_bytes{server="prod"} 2147483648
        # TYPE automation_server_os_info gauge
        automation_server_os_info{server="prod",arch="amd64",name="Linux",version="6.1.0"} 1
        # TYPE automation_server_processors gauge
        automation_server_processors{server="prod"} 4
        # TYPE automation_server_start_time_seconds gauge
        automation_server_start_time_seconds{server="prod"} 1716199700.666
        # TYPE automation_server_threads_active gauge
        automation_server_threads_active{server="prod"} 35`);
  });

  it('reads release 3.4, with numbers as numbers and an exact load', async () => {
    // 3.4.0 (API 39) sends the load average of the operating system.
    const body = `{"system":{"timestamp":{"epoch":1716199997500,"unit":"ms","datetime":"2024-05-20T10:13:17Z"},
      "rundeck":{"version":"3.4.10-20220118","build":"3.4.10-0","node":"auto-1","base":"/srv/auto","apiversion":39,"serverUUID":"7c1f3a52-0b3e-4c57-9d7e-2f6d3f0f6a11"},
      "executions":{"active":true,"executionMode":"active"},"os":{"arch":"amd64","name":"Linux","version":"4.19.0"},
      "jvm":{"name":"OpenJDK 64-Bit Server VM","vendor":"Debian","version":"1.8.0_312","implementationVersion":"25.312-b07"},
      "stats":{"uptime":{"duration":86400000,"unit":"ms","since":{"epoch":1716113597500,"unit":"ms","datetime":"2024-05-19T10:13:17Z"}},
      "cpu":{"loadAverage":{"unit":"percent","average":2.0},"processors":2},
      "memory":{"unit":"byte","max":1037959168,"free":0,"total":1037959168},
      "scheduler":{"running":0,"threadPoolSize":10},"threads":{"active":28}}}}`;
    const { text, outcome } = await scrape({ body }, { apiVersion: 39 });
    expect(outcome).toBe('success');
    expect(toSamples(text)).toEqual(
      expect.arrayContaining([
        'automation_server_clock_skew_seconds{server="prod"} -2.5',
        'automation_server_info{server="prod",version="3.4.10-20220118",build="3.4.10-0",node="auto-1",server_uuid="7c1f3a52-0b3e-4c57-9d7e-2f6d3f0f6a11",api_version="39"} 1',
        'automation_server_load_average{server="prod"} 2',
        'automation_server_memory_free_bytes{server="prod"} 0',
        'automation_scheduler_running_executions{server="prod"} 0',
        'automation_server_start_time_seconds{server="prod"} 1716113597.5',
      ]),
    );
    expect(toSamples(text)).toHaveLength(13);
  });

  it('reads release 5.3, with an overflowed uptime', async () => {
    // Since 4.3 apiversion is text, the load is an integer, and uptime.duration has 32 bits: it overflows after 24.8 days.
    const body = `{"system":{"rundeck":{"version":"5.3.0-20240520","build":"5.3.0-20240520-0","buildGit":"v5.3.0-0-g1a2b3c4","node":"auto-1","base":"/srv/auto","apiversion":"47","serverUUID":null},
      "timestamp":{"epoch":1716200000000,"unit":"ms","datetime":"2024-05-20T10:13:20Z"},
      "executions":{"active":"true","executionMode":"active"},"os":{"arch":"amd64","name":"Linux","version":"5.10"},
      "jvm":{"name":"OpenJDK 64-Bit Server VM","vendor":"Red Hat, Inc.","version":"11.0.23","implementationVersion":"11.0.23+9"},
      "stats":{"uptime":{"duration":-1702967296,"unit":"ms","since":{"epoch":1713608000000,"unit":"ms","datetime":"2024-04-20T10:13:20Z"}},
      "cpu":{"loadAverage":{"unit":"percent","average":1},"processors":4},
      "memory":{"unit":"byte","max":8589934592,"free":1288490188,"total":8589934592},
      "scheduler":{"running":12,"threadPoolSize":50},"threads":{"active":41}},
      "metrics":{"href":"https://auto.example/api/58/metrics/metrics?pretty=true","contentType":"application/json"},
      "ping":{"href":"https://auto.example/api/58/metrics/ping","contentType":"text/plain"},"extended":null}}`;
    const { text, outcome } = await scrape({ body });
    expect(outcome).toBe('success');
    expect(toSamples(text)).toEqual(
      expect.arrayContaining([
        'automation_server_info{server="prod",version="5.3.0-20240520",build="5.3.0-20240520-0",node="auto-1",server_uuid="",api_version="47"} 1',
        'automation_server_start_time_seconds{server="prod"} 1713608000',
      ]),
    );
    expect(toSamples(text)).toHaveLength(12);
    expect(text).not.toContain('load_average');
  });

  it.each<readonly [string, number, string, string | undefined]>([
    // 4.1 and 4.2 send the load of the processors, from 0 to 1.
    ['shows the fractional load of 4.2', 41, serverWithLoad('"4.2.1-20220511"', '41', '0.42'), '0.42'],
    ['shows the full load of 4.1', 41, serverWithLoad('"4.1.2-20220418"', '41', '1.0'), '1'],
    ['shows a load of 0 of 3.4', 39, serverWithLoad('"3.4.0-20210614"', '39', '0.0'), '0'],
    // Up to 4.0, -1 stands for an unknown load.
    ['leaves out the -1 of 3.4', 39, serverWithLoad('"3.4.0-20210614"', '39', '-1.0'), undefined],
    ['leaves out the rounded load of 4.3', 41, serverWithLoad('"4.3.0-20220602"', '"41"', '0'), undefined],
    ['leaves out the rounded load of 5.20', 58, serverWithLoad('"5.20.0-20260316"', '"58"', '1'), undefined],
  ])('%s', async (_name, apiVersion, body, load) => {
    const { text, outcome } = await scrape({ body }, { apiVersion });
    expect(outcome).toBe('success');
    expect(text).toContain('automation_server_processors{server="prod"} 4');
    expect(/^automation_server_load_average\{server="prod"\} (.*)$/m.exec(text)?.[1]).toBe(load);
  });

  it.each<readonly [string, string, string]>([
    // Since 4.4, a caller without the right to read gets only `rundeck`.
    [
      'shows only the versions for a restricted token',
      '{"system":{"rundeck":{"version":"5.3.0-20240520","build":"5.3.0-0","buildGit":"v5.3.0-0-g1a2b3c4","node":"auto-1","base":"/srv/auto","apiversion":"47","serverUUID":null},"timestamp":null,"executions":null,"os":null,"jvm":null,"stats":null,"metrics":null,"threadDump":null,"healthcheck":null,"ping":null,"extended":null}}',
      golden`
        # TYPE automation_server_info gauge
        automation_server_info{server="prod",version="5.3.0-20240520",build="5.3.0-0",node="auto-1",server_uuid="",api_version="47"} 1`,
    ],
    [
      'shows the known values, and does not compute the start from the uptime',
      '{"system":{"os":{"name":"Linux"},"stats":{"uptime":{"duration":300584,"unit":"ms"},"cpu":{"processors":8},"memory":null,"threads":{"active":null}}}}',
      golden`
        # TYPE automation_server_os_info gauge
        automation_server_os_info{server="prod",arch="",name="Linux",version=""} 1
        # TYPE automation_server_processors gauge
        automation_server_processors{server="prod"} 8`,
    ],
    ['shows nothing for an empty system', '{"system":{}}', ''],
    [
      'writes valid text for any name of a node',
      String.raw`{"system":{"rundeck":{"version":"5.3.0 \"rc\\1\"","build":"","node":"auto\"} 1\n# TYPE evil counter 🚀","apiversion":"47","serverUUID":"{}"}}}`,
      golden`
        # TYPE automation_server_info gauge
        automation_server_info{server="prod",version="5.3.0 \"rc\\1\"",build="",node="auto\"} 1\n# TYPE evil counter 🚀",server_uuid="{}",api_version="47"} 1`,
    ],
    // Only the epoch is read, because the written date has whole seconds.
    ...['"2024-05-20T10:08:19Z"', '"2024-05-20T10:08:19.416Z"', '"2024-05-20T12:08:19+02:00"', 'null'].map(
      (date): [string, string, string] => [
        `reads the start from the epoch next to the date ${date}`,
        `{"system":{"stats":{"uptime":{"since":{"epoch":1716199699416,"unit":"ms","datetime":${date}}}}}}`,
        golden`
        # TYPE automation_server_start_time_seconds gauge
        automation_server_start_time_seconds{server="prod"} 1716199699.416`,
      ],
    ),
  ])('%s', async (_name, body, text) => {
    expect(await scrape({ body })).toEqual({ outcome: 'success', text });
  });

  it('repeats the request with the version that an older server names', async () => {
    // API reference, "Errors": a server refuses a newer version with 400.
    const body = '{"system":{"stats":{"cpu":{"processors":2}}}}';
    for (const apiVersion of [14, 25, 46]) {
      expect((await scrape({ body }, { apiVersion })).outcome).toBe('success');
    }
  });

  it.each<readonly [string, CannedAnswer]>([
    ['decode', { body: '{}' }],
    ['decode', { body: '[]' }],
    ['decode', { body: 'null' }],
    ['decode', { body: '"text"' }],
    ['decode', { body: '{"system":{"rundeck":{"version":"5.3.' }],
    ['decode', { body: '{"error":true,"apiversion":47,"errorCode":"api.error.unknown","message":"no"}' }],
    ['empty', { body: '' }],
    ['html', { headers: HTML, body: '<!DOCTYPE html><html><body>Down for maintenance</body></html>' }],
    ['unauthorized', { headers: HTML, body: LOGIN_PAGE }],
    // A role that may not log in gets the login page with 403.
    ['unauthorized', { status: 403, headers: HTML, body: LOGIN_PAGE }],
    ['unauthorized', { status: 302, headers: { location: '/user/login' }, body: '' }],
    ['redirect', { status: 302, headers: { location: '/elsewhere' }, body: '' }],
    ['unauthorized', refusal(403, 'unauthorized')],
    ['unauthorized', refusal(401, 'unauthorized')],
    ['forbidden', refusal(403, 'api.error.item.unauthorized')],
    ['not_found', refusal(404, 'api.error.invalid.request')],
    ['not_found', { status: 404, headers: HTML, body: '<html><body>Not found</body></html>' }],
    ['rejected', refusal(400, 'api.error.parameter.error')],
    // The server supports no version that the exporter supports.
    ['unsupported_version', refusal(400, 'api.error.api-version.unsupported', 'Minimum supported version: 99')],
    ['busy', { status: 429, body: '{"error":"Too many requests"}' }],
    ['server', { status: 500, body: '{"error":"A server error occurred"}' }],
    ['server', { status: 502, headers: HTML, body: '<html><body>Bad gateway</body></html>' }],
    ['server', { status: 503, body: '' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrape(answer)).toEqual({ outcome, text: '' });
  });
});

function scrape(answer: CannedAnswer, server: { apiVersion?: number; dialect?: 'service' } = {}) {
  return scrapeCollector('system-info', { answers: { 'system/info': answer }, ...server });
}

function toSamples(text: string): readonly string[] {
  return text.split('\n').filter((line) => !line.startsWith('#'));
}

function serverWithLoad(version: string, apiversion: string, average: string): string {
  return `{"system":{"rundeck":{"version":${version},"build":"b","node":"auto-1","base":"/srv/auto","apiversion":${apiversion},"serverUUID":null},
    "stats":{"cpu":{"loadAverage":{"unit":"percent","average":${average}},"processors":4}}}}`;
}
