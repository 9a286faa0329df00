/** The health check of the image. This file imports nothing, so that the check costs little. Exits with 1 if the check fails. */
const url = new URL(process.env['HEALTH_URL'] ?? 'http://127.0.0.1:9720/-/healthy');
const ask = await start();
ask.once('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1));
ask.once('error', () => process.exit(1));
ask.end();

async function start() {
  if (url.protocol !== 'https:') return (await import('node:http')).request(url);
  // The certificate is for the public host, not for the address of the check.
  return (await import('node:https')).request(url, { rejectUnauthorized: false });
}
