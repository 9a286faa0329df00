import { type Html, html } from '../html.ts';

/** Shows the configuration that sends traces. */
export function renderSwitchOn(): Html {
  return html`<pre tabindex="0"><code>OTEL_EXPORTER_OTLP_ENDPOINT=http://collector.example.org:4318</code></pre>
<p>or write into the configuration, to send them to <code>http://localhost:4318</code>:</p>
<pre tabindex="0"><code>traces:
  enabled: on
</code></pre>
`;
}

/** Shows the configuration that reads steps for pages only. */
export function renderReadSteps(): Html {
  return html`<pre tabindex="0"><code>traces:
  enabled: pages
</code></pre>
`;
}
