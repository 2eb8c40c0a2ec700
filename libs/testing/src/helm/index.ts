export {
  HELM_VERSION,
  type Helm,
  HelmUnavailable,
  missingForHelm,
  type OpenHelmOptions,
  openHelm,
} from './open-helm.js';
