export { Counter, Gauge, Histogram, Registry } from 'prom-client';
export { createMetrics, installTelemetry, type TelemetryOptions } from './install.js';
