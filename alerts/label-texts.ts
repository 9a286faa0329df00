/** The server of an alert as people call it, with the member where the alert is about one of a cluster. */
export const serverText = '{{ $labels.server }}{{ with $labels.member }} (member {{ . }}){{ end }}';

/** The job of an alert as people call it: project, group and name. */
export const jobText = '{{ $labels.project }}/{{ with $labels.job_group }}{{ . }}/{{ end }}{{ $labels.job_name }}';
