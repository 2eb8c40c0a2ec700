export { Counter, Gauge, Histogram, Registry } from 'prom-client';
export { createMetrics, installTelemetry, type Telemetry, type TelemetryOptions } from './install.js';
