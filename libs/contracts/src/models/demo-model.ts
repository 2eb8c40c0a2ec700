/** The model id of the built-in scripted model. */
export const DEMO_MODEL = 'slipway-demo';
