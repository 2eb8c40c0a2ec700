export { type ExampleBody, exampleDelivery, exampleProvider, signedHeaders } from './example-provider.js';
