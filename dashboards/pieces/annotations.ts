import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { dataSource } from './panel.ts';

/** Marks each change between active and passive. */
export function modeChanges(): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name('Mode changes')
    .datasource(dataSource)
    .enable(true)
    .iconColor('orange')
    .expr(
      'max by (server) (changes(automation_execution_mode{mode="passive",server=~"$server"}[$__rate_interval])) > 0',
    )
    .titleFormat('Execution mode changed')
    .textFormat('{{server}}')
    .tagKeys('server');
}

/** Marks expected runs that did not happen: one mark for each cause, however many jobs a passive night has. */
export function misses(): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name('Missed runs')
    .datasource(dataSource)
    .enable(true)
    .iconColor('red')
    .expr(
      'sum by (server, reason) (max without (instance, pod) (increase(automation_schedule_missed_total{server=~"$server"}[$__rate_interval]))) > 0',
    )
    .titleFormat('Scheduled runs were missed')
    .textFormat('{{server}}: {{reason}}')
    .tagKeys('server,reason');
}

/** Marks each reload of an exporter's configuration that succeeded. */
export function reloads(): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name('Reloads')
    .datasource(dataSource)
    .enable(true)
    .iconColor('blue')
    .expr('max by (instance) (1000 * automation_exporter_config_last_reload_timestamp_seconds)')
    .useValueForTime(true)
    .titleFormat('Exporter reloaded its configuration')
    .textFormat('{{instance}}')
    .tagKeys('instance');
}

/** Marks each start of the server at the time that the server reports; a smaller difference is a rounding error. */
export function restarts(): AnnotationQueryBuilder {
  const start = 'automation_server_start_time_seconds{server=~"$server"}';
  return new AnnotationQueryBuilder()
    .name('Restarts')
    .datasource(dataSource)
    .enable(true)
    .iconColor('purple')
    .expr(`max by (server) (1000 * ${start} and ${start} - min_over_time(${start}[30m]) > 60)`)
    .useValueForTime(true)
    .titleFormat('Server restarted')
    .textFormat('{{server}}')
    .tagKeys('server');
}
