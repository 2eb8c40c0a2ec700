export { HELM_VERSION, type Helm, HelmUnavailable, lackForHelm, type OpenHelmOptions, openHelm } from './open-helm.js';
