variable_source "users" "file/csv" {
  file              = "users.csv"
  fields            = ["user_id", "name"]
  ignore_first_line = true
  delimiter         = ","
}
variable_source "global" "variables" {
  variables = {
    id = "randInt(10,11)"
  }
}
request "auth_req" {
  method = "POST"
  uri    = "/auth"
  headers = {
    Content-Type = "application/json"
    Useragent    = "Yandex"
    Global-Id    = "{{ .source.global.id }}"
  }
  tag  = "auth"
  body = <<EOF
{"user_id":  {{.request.auth_req.preprocessor.user_id}}, "name":"{{.request.auth_req.preprocessor.rand_name}}", "uuid":"{{len uuid}}"}
EOF
  templater {
    type = "html"
  }
  preprocessor {
    mapping = {
      user_id   = "source.users[next].user_id"
      rand_name = "randString(5, a)"
    }
  }
  postprocessor "var/header" {
    mapping = {
      Content-Type = "Content-Type|upper"
      kind         = "X-Kind|substr(2)"
    }
  }
  postprocessor "var/jsonpath" {
    mapping = {
      result = "$.auth_key"
    }
  }
  postprocessor "assert/response" {
    headers = {
      Content-Type = "json"
    }
    body = ["{\"auth_key\":"]
    size {
      op  = ">"
      val = 10
    }
  }
  postprocessor "assert/response" {
    body = ["k1"]
  }
}
request "list_req" {
  method = "GET"
  headers = {
    Authorization = "Bearer {{.request.auth_req.postprocessor.kind}}"
    Content-Type  = "application/json"
    Useragent     = "Yandex"
  }
  tag = "list"
  uri = "/list?auth={{.request.auth_req.postprocessor.result}}"

  postprocessor "var/jsonpath" {
    mapping = {
      item_id = "$.items[0]"
      items   = "$.items"
    }
  }
}
request "order_req" {
  method = "POST"
  uri    = "/order"
  headers = {
    Authorization = "Bearer {{.request.auth_req.postprocessor.kind}}"
    Content-Type  = "application/json"
    Useragent     = "Yandex"
  }
  tag  = "order_req"
  body = <<EOF
{"item_id": {{.request.order_req.preprocessor.item}}}
EOF

  preprocessor {
    mapping = {
      item = "request.list_req.postprocessor.items[next]"
    }
  }
}
scenario "scenario_name" {
  weight           = 50
  min_waiting_time = 10
  requests         = [
    "auth_req(1)",
    "sleep(10)",
    "list_req(1)",
    "sleep(10)",
    "order_req(3)"
  ]
}
