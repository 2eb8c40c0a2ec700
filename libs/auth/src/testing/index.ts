export { AppOfIssuer, comeBack } from './app-of-issuer.js';
export { describeIssuer, type IssuerUnderTest } from './issuer.contract.js';
